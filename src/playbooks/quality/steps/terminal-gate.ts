// terminal-gate: the runner's own checks of everything a quality run wrote. They run when the last
// phase starts, so that its agent knows what is missing, and again after its turn: the second
// result decides.
//
// Invariants:
//   G1. The gates of all phases are judged again on the current commit.
//   G2. A failure is something missing or untrue; a warning is a rule that holds only in its weaker
//       form, a placeholder, an artifact that this run did not change, functional tests that name
//       no code, or a bug that nobody has seen.

import {
  findFact,
  gateFact,
  GateResult,
  type GateCheck,
} from "../../../contracts/quality-facts.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import { listSome } from "../../../kit/list-some.ts";
import { withoutFreshness } from "../../../engine/survey-gates.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Verifier } from "../../../ports/verifier.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { isProgramText } from "../../../verify/protected/kinds.ts";
import { hashPatches } from "./bugs-shown.ts";
import { countBugHeadings, findBugIds } from "./count-documents.ts";
import { readReturn } from "../../contract/agent-return.ts";
import { listGatesOfPhase } from "./phase-gates.ts";
import { findUnchangedPhases } from "./phase-artifacts.ts";
import { openQualityTree, type QualityTree } from "./quality-tree.ts";
import { collectBugIds } from "./claimed-bug-ids.ts";

type StepInput = FunctionInput<RunView, CursorView>;
type Parts = {
  readonly verifier: Pick<Verifier, "prove">;
  readonly workspace: Pick<Workspace, "pathsAt" | "textAt" | "differences">;
  readonly readBlob: (hash: string) => Buffer | null;
};

const namesShownMax = 10;
/** Shorter words of a path, such as `src` or `api`, occur in any text. */
const codeWordCharsMin = 4;

/** The gate as a step: it never fails; the agent of the phase reads its result. */
export const createTerminalGateStep = (parts: Parts) => ({
  version: 1,
  effect: "none" as const,
  perform: async (input: StepInput): Promise<FunctionResult> =>
    stepResult(await judgeGate(parts, input), { decides: false }),
});

/** The gate as a proof: its result decides. */
export const createTerminalGateProof = (parts: Parts) => ({
  version: 1,
  prove: async (input: StepInput): Promise<FunctionResult> =>
    stepResult(await judgeGate(parts, input), { decides: true }),
});

function stepResult(gate: GateResult, { decides }: { readonly decides: boolean }): FunctionResult {
  const count = (verdict: GateCheck["verdict"]): number =>
    gate.checks.filter((check) => check.verdict === verdict).length;
  const problems = gate.checks
    .filter(({ verdict }) => verdict === "fail" || verdict === "warn")
    .map(({ name, verdict, reason }) => `${name} (${verdict}): ${reason}`);

  return {
    ok: !decides || gate.verdict !== "fail",
    facts: {
      gate_verdict: gate.verdict,
      failures: count("fail"),
      warnings: count("warn"),
      [gateFact]: JSON.stringify(gate),
    },
    detail: problems.length === 0 ? "every check passed" : problems.join("; "),
  };
}

async function judgeGate(parts: Parts, input: StepInput): Promise<GateResult> {
  const tree = await openQualityTree(parts.workspace, input.commit);
  const document = await tree.text(bugsPath);
  const isUnreadable = document === null && tree.has(bugsPath);
  const bugs = [...new Set(findBugIds(document))];
  const { phaseChecks, placeholders } = await checkPhases(parts.verifier, input);
  const changedPaths = (
    await parts.workspace.differences(input.state.drafted.base.commit, input.commit)
  ).map(({ path }) => path);

  const checks = [
    ...phaseChecks, // G1
    isUnreadable ? unreadableCheck : checkHeadings(document, readClaimedBugIds(parts, input.state)),
    await checkFilePerBug(
      tree,
      "patches",
      bugs,
      (id) => `quality/patches/${id}-regression-test.patch`,
    ),
    await checkFilePerBug(tree, "writeups", bugs, (id) => `quality/writeups/${id}.md`),
    await checkFilePerBug(tree, "red_logs", bugs, (id) => `quality/results/${id}.red.log`),
    checkRegressionTests(input.state, bugs, await hashPatches(tree, bugs)),
    await checkFunctionalTests(tree, await parts.workspace.pathsAt(input.commit)),
    checkAuditNames(tree),
    checkContent(placeholders),
    checkMadeHere(input.state, tree, {
      changedPaths: new Set(changedPaths),
      hasBugs: bugs.length > 0,
    }),
    checkSourceUnchanged(changedPaths),
  ];
  const has = (verdict: GateCheck["verdict"]): boolean =>
    checks.some((check) => check.verdict === verdict);
  if (has("fail")) return { verdict: "fail", checks };

  return { verdict: has("warn") ? "partial" : "pass", checks };
}

/**
 * One check per phase that has gates, and the placeholders among their artifacts, each with the
 * reason it counts as one.
 */
async function checkPhases(
  verifier: Parts["verifier"],
  { attempt, state, commit, cancel, onLiveEvent }: StepInput,
) {
  const phaseChecks: GateCheck[] = [];
  const placeholders = new Map<string, string>();

  for (const { id, name, group } of state.phases) {
    const gates = group === "phases" ? listGatesOfPhase(state, id).map(withoutFreshness) : [];
    if (gates.length === 0) continue;

    const result = await verifier.prove({
      attempt,
      gates,
      commit,
      changed: [],
      base: state.drafted.base.commit,
      cancel,
      onLiveEvent,
    });

    for (const { file, why } of result.hollow ?? []) placeholders.set(file, why);
    const why = result.failures
      .map(
        ({ rule, file, found, expected }) =>
          `${file ?? rule}: found ${found}, expected ${expected}`,
      )
      .join(", ");

    phaseChecks.push({
      name: `phase_${id}`,
      verdict: result.holds ? "pass" : "fail",
      reason: result.holds ? `${name}: its gate holds` : why,
    });
  }

  return { phaseChecks, placeholders };
}

/** The ids that agents named as confirmed bugs, in the phases that confirm them. */
function readClaimedBugIds(parts: Parts, state: RunView): readonly string[] {
  const cursors = ["3", "5"].map((phase) => state.cursors[phase]);
  return collectBugIds(
    cursors.map((cursor) => (cursor === undefined ? null : readReturn(parts, cursor, "do"))),
  );
}

const bugsPath = "quality/BUGS.md";
const unreadableCheck: GateCheck = {
  name: "bugs_heading",
  verdict: "fail",
  reason: `${bugsPath} isn't a regular text file that can be read, so its bugs cannot be counted`,
};

/** The headings of BUGS.md have ids, each once, and the ids are those that agents handed back. */
function checkHeadings(document: string | null, claimedIds: readonly string[]): GateCheck {
  const name = "bugs_heading";
  const idsInFile = findBugIds(document);
  const headingsWithoutId = countBugHeadings(document) - idsInFile.length;
  if (headingsWithoutId > 0) {
    const headings = headingsWithoutId === 1 ? "heading" : "headings";
    const reason = `BUGS.md has ${headingsWithoutId} ${headings} ### BUG- without an id of letters and digits, so no write-up, patch or log can be named after it`;
    return { name, verdict: "fail", reason };
  }

  const duplicates = idsInFile.filter((id, index) => idsInFile.indexOf(id) !== index);
  if (duplicates.length > 0) {
    return {
      name,
      verdict: "fail",
      reason: `BUGS.md has more than one heading for ${listNames(duplicates)}`,
    };
  }

  if (claimedIds.length === 0) {
    return idsInFile.length === 0
      ? { name, verdict: "pass", reason: "no bug was named, and BUGS.md has none" }
      : {
          name,
          verdict: "skip",
          reason: `no agent handed back its bugs; BUGS.md has ${idsInFile.length}`,
        };
  }

  const missingIds = claimedIds.filter((id) => !idsInFile.includes(id));
  const unclaimedIds = idsInFile.filter((id) => !claimedIds.includes(id));

  const problems = [
    ...(missingIds.length === 0 ? [] : [`${listNames(missingIds)} handed back and not in BUGS.md`]),
    ...(unclaimedIds.length === 0
      ? []
      : [`${listNames(unclaimedIds)} in BUGS.md and never handed back`]),
  ];
  if (problems.length > 0) return { name, verdict: "fail", reason: problems.join("; ") };
  return {
    name,
    verdict: "pass",
    reason: `${idsInFile.length} bugs, in BUGS.md and as handed back`,
  };
}

async function checkFilePerBug(
  tree: QualityTree,
  name: string,
  bugs: readonly string[],
  pathOf: (id: string) => string,
): Promise<GateCheck> {
  if (bugs.length === 0) return { name, verdict: "skip", reason: "no confirmed bug" };
  const missingPaths: string[] = [];

  for (const path of bugs.map(pathOf)) {
    if (!tree.has(path) || (await tree.text(path)) === "") missingPaths.push(path);
  }

  if (missingPaths.length > 0) {
    return { name, verdict: "fail", reason: `missing or empty: ${listNames(missingPaths)}` };
  }

  return { name, verdict: "pass", reason: `one for each of ${bugs.length} bugs` };
}

/**
 * What the runner found when it tried the regression tests in phase 5 (bugs-shown.ts).
 * `patchesHash` is the hash of the patches now.
 */
function checkRegressionTests(
  state: RunView,
  bugs: readonly string[],
  patchesHash: string,
): GateCheck {
  const name = "regression_tests";
  if (bugs.length === 0) return { name, verdict: "skip", reason: "no confirmed bug" };
  const facts = state.cursors["5"]?.last["do"]?.facts ?? {};

  const {
    bugs_shown: shownCount,
    bugs_untried: untriedCount,
    bugs_undecided: undecidedReason,
  } = facts;
  if (typeof shownCount !== "number") {
    const why =
      typeof undecidedReason === "string" ? undecidedReason : "this run has not tried them";
    const bugsText = `${bugs.length} ${bugs.length === 1 ? "bug" : "bugs"}`;
    return {
      name,
      verdict: "warn",
      reason: `nobody has seen the regression tests of ${bugsText} fail: ${why}`,
    };
  }

  if (facts["patches"] !== patchesHash) {
    return {
      name,
      verdict: "warn",
      reason: "bugs or patches were changed after the runner had tried them",
    };
  }

  if (typeof untriedCount === "number" && untriedCount > 0) {
    return {
      name,
      verdict: "warn",
      reason: `the runner saw ${shownCount} fail, and has not tried ${untriedCount} more`,
    };
  }

  const unexplained = facts["bugs_unexplained"];
  if (typeof unexplained === "string" && unexplained !== "") {
    return {
      name,
      verdict: "warn",
      reason: `the tests of ${unexplained} fail, and nobody has seen that it is because of the bug: they pass with no fix of the accused code, and with no answer of it`,
    };
  }

  const spelled = facts["bugs_spelled"];
  if (typeof spelled === "string" && spelled !== "") {
    return {
      name,
      verdict: "warn",
      reason: `the fix names the very input that its test asks for, so nobody has seen it mend more than that: ${spelled}`,
    };
  }

  return {
    name,
    verdict: "pass",
    reason: `the runner applied ${shownCount}, and each fails on the code as it is`,
  };
}

/**
 * G2: tests that name no code of the project test nothing of it. Only words are compared: a test
 * that names code and checks nothing passes.
 */
async function checkFunctionalTests(
  tree: QualityTree,
  paths: readonly string[],
): Promise<GateCheck> {
  const name = "functional_tests";
  const testPaths = tree.matching(/^quality\/test_functional\.[^/]+$/);
  const codePaths = paths.filter((path) => isProgramText(path) && !path.startsWith("quality/"));
  const codeWords = findCodeWords(codePaths);

  for (const path of codePaths.length === 0 ? [] : testPaths) {
    const text = ((await tree.text(path)) ?? "").toLowerCase();
    if (text.includes("../") || codeWords.some((word) => text.includes(word))) continue;
    return {
      name,
      verdict: "warn",
      reason: `${path} names no code of the project, so nothing shows that it tests any`,
    };
  }

  return { name, verdict: "pass", reason: "functional tests name code of the project" };
}

/**
 * The folder and file names of code, without endings and without names that say nothing:
 * `lib/parser/index.js` has the word `parser`.
 */
function findCodeWords(codePaths: readonly string[]): readonly string[] {
  const pathParts = codePaths.flatMap((path) =>
    path
      .toLowerCase()
      .replace(/\.\w+$/, "")
      .split("/"),
  );

  const isTelling = (word: string): boolean =>
    word.length >= codeWordCharsMin && !/^(?:tests?|index|main)$/.test(word);
  return [...new Set(pathParts)].filter(isTelling);
}

/** G2: file names that do not follow the convention pass with a warning. */
function checkAuditNames(tree: QualityTree): GateCheck {
  const isNamed =
    tree.matching(/^quality\/spec_audits\/[^/]*(?:-triage|-auditor-[^/]*)\.md$/).length > 0;
  const name = "spec_audit_names";
  if (isNamed) return { name, verdict: "pass", reason: "triage and auditors are named as agreed" };

  return {
    name,
    verdict: "warn",
    reason: "no file is named *-triage.md or *-auditor-*.md, so only their number was asked for",
  };
}

function checkContent(placeholders: ReadonlyMap<string, string>): GateCheck {
  const name = "content";
  if (placeholders.size === 0) return { name, verdict: "pass", reason: "no artifact is hollow" };
  return {
    name,
    verdict: "warn",
    reason: `hollow: ${listNames([...placeholders].map(([file, why]) => `${file} (${why})`))}`,
  }; // G2
}

/**
 * G2: unchanged documents may prove a phase, but not that anybody inspected the code in this run.
 * Phase 6 has no documents of its own.
 */
function checkMadeHere(
  state: RunView,
  tree: QualityTree,
  {
    changedPaths,
    hasBugs,
  }: { readonly changedPaths: ReadonlySet<string>; readonly hasBugs: boolean },
): GateCheck {
  const name = "made_here";
  const isExpected = (phase: string): boolean => phase !== "6" && (phase !== "5" || hasBugs); // phase 5 writes about bugs alone
  const unchangedPhases = findUnchangedPhases(state, tree.paths, changedPaths).filter(isExpected);
  if (unchangedPhases.length === 0) {
    return { name, verdict: "pass", reason: "every phase left documents in this run" };
  }

  const phases = `phase${unchangedPhases.length === 1 ? "" : "s"} ${unchangedPhases.join(", ")}`;
  return {
    name,
    verdict: "warn",
    reason: `${phases}: this run changed none of the documents that are there, they are from before it`,
  };
}

function checkSourceUnchanged(changedPaths: readonly string[]): GateCheck {
  const sourcePaths = changedPaths.filter((path) => !path.startsWith("quality/"));
  const name = "source_unchanged";

  if (sourcePaths.length === 0) {
    return {
      name,
      verdict: "pass",
      reason: "nothing outside quality/ was changed since the run began",
    };
  }

  return { name, verdict: "fail", reason: `changed outside quality/: ${listNames(sourcePaths)}` };
}

const listNames = (names: readonly string[]): string => listSome(names, namesShownMax);

/** The newest result of the gate in the last phase. */
export function findGate(state: RunView): GateResult | null {
  const cursor = state.cursors["6"];
  for (const outcome of [cursor?.last["do"], cursor?.last["terminal"]]) {
    const gate = outcome === undefined ? null : findFact(outcome.facts, gateFact, GateResult);
    if (gate !== null) return gate;
  }

  return null;
}
