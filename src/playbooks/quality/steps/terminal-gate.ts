// terminal-gate: the runner's own checks of everything a quality run wrote. They run when the last phase starts, so that its agent knows what
// is missing, and again after its turn: the second result decides.
//
// Invariants:
//   G1. The gates of all phases are judged again on the current commit.
//   G2. A failure is something missing or untrue; a warning is a rule that holds only in its weaker form, a placeholder, an artifact that
//       this run did not change, functional tests that name no code, or a bug that nobody has seen.

import { findFact, gateFact, GateResult, type GateCheck } from "../../../contracts/quality-facts.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import { withoutFreshness } from "../../../engine/found-gates.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Verifier } from "../../../ports/verifier.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { isProgramText } from "../../../verify/protected/kinds.ts";
import { hashPatches } from "./bugs-shown.ts";
import { countBugHeadings, findBugIds } from "./count-documents.ts";
import { readReturn } from "./kept-return.ts";
import { gatesOfPhase } from "./phase-gates.ts";
import { findUnchangedPhases } from "./phase-artifacts.ts";
import { openQualityTree, type QualityTree } from "./quality-tree.ts";
import { collectBugIds } from "./ids-claimed.ts";

type StepInput = FunctionInput<RunView, CursorView>;
type Parts = {
  readonly verifier: Pick<Verifier, "prove">;
  readonly workspace: Pick<Workspace, "pathsAt" | "textAt" | "differences">;
  readonly readBlob: (hash: string) => Buffer | null;
};

const namesShownMax = 10;

/** The gate as a step: it never fails; the agent of the phase reads its result. */
export const terminalGate = (parts: Parts) => ({
  version: 1,
  effect: "none" as const,
  perform: async (input: StepInput): Promise<FunctionResult> => stepResult(await judgeGate(parts, input), { decides: false }),
});

/** The gate as a proof: its result decides. */
export const terminalProof = (parts: Parts) => ({
  version: 1,
  prove: async (input: StepInput): Promise<FunctionResult> => stepResult(await judgeGate(parts, input), { decides: true }),
});

function stepResult(gate: GateResult, { decides }: { readonly decides: boolean }): FunctionResult {
  const problems = gate.checks.filter(({ verdict }) => verdict === "fail" || verdict === "warn");
  const count = (verdict: GateCheck["verdict"]): number => gate.checks.filter((check) => check.verdict === verdict).length;
  return {
    ok: !decides || gate.verdict !== "fail",
    facts: { gate_verdict: gate.verdict, failures: count("fail"), warnings: count("warn"), [gateFact]: JSON.stringify(gate) },
    detail:
      problems.length === 0
        ? "every check passed"
        : problems.map(({ name, verdict, reason }) => `${name} (${verdict}): ${reason}`).join("; "),
  };
}

async function judgeGate(parts: Parts, input: StepInput): Promise<GateResult> {
  const tree = await openQualityTree(parts.workspace, input.commit);
  const document = await tree.text(bugsPath);
  const isUnreadable = document === null && tree.has(bugsPath);
  const bugs = [...new Set(findBugIds(document))];
  const { checks: checksOfPhases, hollow: placeholders } = await phaseChecks(parts.verifier, input);
  const changed = (await parts.workspace.differences(input.state.drafted.base.commit, input.commit)).map(({ path }) => path);
  const checks = [
    ...checksOfPhases, // G1
    isUnreadable ? unreadable : checkHeadings(document, claimedBugIds(parts, input.state)),
    await checkFilePerBug(tree, "patches", bugs, (id) => `quality/patches/${id}-regression-test.patch`),
    await checkFilePerBug(tree, "writeups", bugs, (id) => `quality/writeups/${id}.md`),
    await checkFilePerBug(tree, "red_logs", bugs, (id) => `quality/results/${id}.red.log`),
    checkRegressionTests(input.state, bugs, await hashPatches(tree, bugs)),
    await checkFunctionalTests(tree, await parts.workspace.pathsAt(input.commit)),
    checkAuditNames(tree),
    checkContent(placeholders),
    checkMadeHere(input.state, tree, { changed: new Set(changed), hasBugs: bugs.length > 0 }),
    checkSourceUnchanged(changed),
  ];
  const has = (verdict: GateCheck["verdict"]): boolean => checks.some((check) => check.verdict === verdict);
  if (has("fail")) return { verdict: "fail", checks };
  return { verdict: has("warn") ? "partial" : "pass", checks };
}

async function phaseChecks(verifier: Parts["verifier"], { attempt, state, commit, cancel, onLiveEvent }: StepInput) {
  const checks: GateCheck[] = [];
  const placeholders = new Map<string, string>();
  for (const { id, name, group } of state.phases) {
    const gates = group === "phases" ? gatesOfPhase(state, id).map(withoutFreshness) : [];
    if (gates.length === 0) continue;
    const result = await verifier.prove({ attempt, gates, commit, changed: [], base: state.drafted.base.commit, cancel, onLiveEvent });
    for (const { file, why } of result.hollow ?? []) placeholders.set(file, why);
    const why = result.failures
      .map(({ rule, file, found, expected }) => `${file ?? rule}: found ${found}, expected ${expected}`)
      .join(", ");
    checks.push({ name: `phase_${id}`, verdict: result.holds ? "pass" : "fail", reason: result.holds ? `${name}: its gate holds` : why });
  }
  return { checks, hollow: placeholders };
}

/** The ids that agents named as confirmed bugs, in the phases that confirm them. */
const claimedBugIds = ({ readBlob }: Parts, state: RunView): readonly string[] =>
  collectBugIds(["3", "5"].map((phase) => (state.cursors[phase] === undefined ? null : readReturn(readBlob, state.cursors[phase]))));

const bugsPath = "quality/BUGS.md";
const unreadable: GateCheck = {
  name: "bugs_heading",
  verdict: "fail",
  reason: `${bugsPath} isn't a regular text file that can be read, so its bugs cannot be counted`,
};

function checkHeadings(document: string | null, claimedIds: readonly string[]): GateCheck {
  const name = "bugs_heading";
  const inFile = findBugIds(document);
  const headingsWithoutId = countBugHeadings(document) - inFile.length;
  if (headingsWithoutId > 0)
    return {
      name,
      verdict: "fail",
      reason: `BUGS.md has ${headingsWithoutId} ${headingsWithoutId === 1 ? "heading" : "headings"} ### BUG- without an id of letters and digits, so no write-up, patch or log can be named after it`,
    };
  const duplicates = inFile.filter((id, index) => inFile.indexOf(id) !== index);
  if (duplicates.length > 0) return { name, verdict: "fail", reason: `BUGS.md has more than one heading for ${listSome(duplicates)}` };
  if (claimedIds.length === 0)
    return inFile.length === 0
      ? { name, verdict: "pass", reason: "no bug was named, and BUGS.md has none" }
      : { name, verdict: "skip", reason: `no agent handed back its bugs; BUGS.md has ${inFile.length}` };
  const [missing, unknown] = [claimedIds.filter((id) => !inFile.includes(id)), inFile.filter((id) => !claimedIds.includes(id))];
  if (missing.length + unknown.length === 0)
    return { name, verdict: "pass", reason: `${inFile.length} bugs, in BUGS.md and as handed back` };
  const parts = [
    ...(missing.length === 0 ? [] : [`${listSome(missing)} handed back and not in BUGS.md`]),
    ...(unknown.length === 0 ? [] : [`${listSome(unknown)} in BUGS.md and never handed back`]),
  ];
  return { name, verdict: "fail", reason: parts.join("; ") };
}

async function checkFilePerBug(
  tree: QualityTree,
  name: string,
  bugs: readonly string[],
  pathOf: (id: string) => string,
): Promise<GateCheck> {
  if (bugs.length === 0) return { name, verdict: "skip", reason: "no confirmed bug" };
  const missing: string[] = [];
  for (const path of bugs.map(pathOf)) if (!tree.has(path) || (await tree.text(path)) === "") missing.push(path);
  if (missing.length > 0) return { name, verdict: "fail", reason: `missing or empty: ${listSome(missing)}` };
  return { name, verdict: "pass", reason: `one for each of ${bugs.length} bugs` };
}

/** The result of the runner trying the regression tests in phase 5. */
function checkRegressionTests(state: RunView, bugs: readonly string[], patches: string): GateCheck {
  const name = "regression_tests";
  if (bugs.length === 0) return { name, verdict: "skip", reason: "no confirmed bug" };
  const facts = state.cursors["5"]?.last["do"]?.facts ?? {};
  const [shown, untried, why] = [facts["bugs_shown"], facts["bugs_untried"], facts["bugs_undecided"]];
  if (typeof shown !== "number")
    return {
      name,
      verdict: "warn",
      reason: `nobody has seen the regression tests of ${bugs.length} ${bugs.length === 1 ? "bug" : "bugs"} fail: ${typeof why === "string" ? why : "this run has not tried them"}`,
    };
  if (facts["patches"] !== patches)
    return { name, verdict: "warn", reason: "bugs or patches were changed after the runner had tried them" };
  if (typeof untried === "number" && untried > 0)
    return { name, verdict: "warn", reason: `the runner saw ${shown} fail, and has not tried ${untried} more` };
  const unexplained = facts["bugs_unexplained"];
  if (typeof unexplained === "string" && unexplained !== "")
    return {
      name,
      verdict: "warn",
      reason: `the tests of ${unexplained} fail, and nobody has seen that it is because of the bug: there is no fix they pass with, and no answer of the accused code`,
    };
  return { name, verdict: "pass", reason: `the runner applied ${shown}, and each fails on the code as it is` };
}

/** G2: file names that do not follow the convention pass with a warning. */
/** G2: tests that name no code of the project test nothing of it. By words: one that names it and asks nothing of it is not noticed. */
async function checkFunctionalTests(tree: QualityTree, paths: readonly string[]): Promise<GateCheck> {
  const name = "functional_tests";
  const tests = tree.matching(/^quality\/test_functional\.[^/]+$/);
  const code = paths.filter((path) => isProgramText(path) && !path.startsWith("quality/"));
  const words = new Set(
    code
      .flatMap((path) =>
        path
          .toLowerCase()
          .replace(/\.\w+$/, "")
          .split("/"),
      )
      .filter((word) => word.length >= codeWordMin),
  );
  for (const path of code.length === 0 ? [] : tests) {
    const text = ((await tree.text(path)) ?? "").toLowerCase();
    if (text.includes("../") || [...words].some((word) => !/^(?:tests?|index|main)$/.test(word) && text.includes(word))) continue;
    return { name, verdict: "warn", reason: `${path} names no code of the project, so nothing shows that it tests any` };
  }
  return { name, verdict: "pass", reason: "functional tests name code of the project" };
}
const codeWordMin = 4;

function checkAuditNames(tree: QualityTree): GateCheck {
  const isNamed = tree.matching(/^quality\/spec_audits\/[^/]*(?:-triage|-auditor-[^/]*)\.md$/).length > 0;
  const name = "spec_audit_names";
  if (isNamed) return { name, verdict: "pass", reason: "triage and auditors are named as agreed" };
  return { name, verdict: "warn", reason: "no file is named *-triage.md or *-auditor-*.md, so only their number was asked for" };
}

function checkContent(placeholders: ReadonlyMap<string, string>): GateCheck {
  const name = "content";
  if (placeholders.size === 0) return { name, verdict: "pass", reason: "no artifact is hollow" };
  return { name, verdict: "warn", reason: `hollow: ${listSome([...placeholders].map(([file, why]) => `${file} (${why})`))}` }; // G2
}

/** G2: unchanged documents may prove a phase, but not that anybody inspected the code in this run. Phase 6 has no documents of its own. */
function checkMadeHere(
  state: RunView,
  tree: QualityTree,
  { changed, hasBugs }: { changed: ReadonlySet<string>; hasBugs: boolean },
): GateCheck {
  const name = "made_here";
  const unchangedPhases = findUnchangedPhases(state, tree.paths, changed).filter((phase) => phase !== "6" && (phase !== "5" || hasBugs));
  if (unchangedPhases.length === 0) return { name, verdict: "pass", reason: "every phase left documents in this run" };
  const phases = `phase${unchangedPhases.length === 1 ? "" : "s"} ${unchangedPhases.join(", ")}`;
  return { name, verdict: "warn", reason: `${phases}: this run changed none of the documents that are there, they are from before it` };
}

function checkSourceUnchanged(changed: readonly string[]): GateCheck {
  const outside = changed.filter((path) => !path.startsWith("quality/"));
  const name = "source_unchanged";
  if (outside.length === 0) return { name, verdict: "pass", reason: "nothing outside quality/ was changed since the run began" };
  return { name, verdict: "fail", reason: `changed outside quality/: ${listSome(outside)}` };
}

const listSome = (names: readonly string[]): string =>
  `${names.slice(0, namesShownMax).join(", ")}${names.length > namesShownMax ? ` and ${names.length - namesShownMax} more` : ""}`;

/** The newest result of the gate in the last phase. */
export function findGate(state: RunView): GateResult | null {
  const cursor = state.cursors["6"];
  for (const outcome of [cursor?.last["do"], cursor?.last["terminal"]]) {
    const gate = outcome === undefined ? null : findFact(outcome.facts, gateFact, GateResult);
    if (gate !== null) return gate;
  }
  return null;
}
