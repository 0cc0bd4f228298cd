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
} from "../../../contracts/quality/quality-facts.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import { withoutFreshness } from "../../../engine/survey-gates.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Verifier } from "../../../ports/verifier.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { readReturn } from "../../contract/agent-return.ts";
import { hashPatches, testPatchPath } from "./regression-test-trials.ts";
import { collectBugIds } from "./claimed-bug-ids.ts";
import { findBugIds } from "./count-in-documents.ts";
import {
  bugsPath,
  checkFilePerBug,
  checkHeadings,
  checkRegressionTests,
  unreadableBugsCheck,
} from "./gate-bug-checks.ts";
import { failed, passed } from "./gate-check.ts";
import {
  checkAuditNames,
  checkContent,
  checkFunctionalTests,
  checkMadeHere,
  checkSourceUnchanged,
} from "./gate-document-checks.ts";
import { listGatesOfPhase } from "./phase-gates.ts";
import { openQualityTree, type QualityTree } from "./quality-tree.ts";

type StepInput = FunctionInput<RunView, CursorView>;
type Parts = {
  readonly verifier: Pick<Verifier, "prove">;
  readonly workspace: Pick<Workspace, "pathsAt" | "textAt" | "differences">;
  readonly readBlob: (hash: string) => Buffer | null;
};

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
  const { state, commit } = input;
  const tree = await openQualityTree(parts.workspace, commit);
  const { phaseChecks, placeholders } = await checkPhases(parts.verifier, input);
  const changes = await parts.workspace.differences(state.drafted.base.commit, commit);
  const changedPaths = changes.map(({ path }) => path);

  const document = await tree.text(bugsPath);
  const bugs = [...new Set(findBugIds(document))];
  const changed = { changedPaths: new Set(changedPaths), hasBugs: bugs.length > 0 };

  const checks = [
    ...phaseChecks, // G1
    ...(await checkBugs(parts, state, tree, { document, bugs })),
    await checkFunctionalTests(tree, await parts.workspace.pathsAt(commit)),
    checkAuditNames(tree),
    checkContent(placeholders),
    checkMadeHere(state, tree, changed),
    checkSourceUnchanged(changedPaths),
  ];
  const has = (verdict: GateCheck["verdict"]): boolean =>
    checks.some((check) => check.verdict === verdict);
  if (has("fail")) return { verdict: "fail", checks };

  return { verdict: has("warn") ? "partial" : "pass", checks };
}

async function checkBugs(
  parts: Parts,
  state: RunView,
  tree: QualityTree,
  { document, bugs }: { readonly document: string | null; readonly bugs: readonly string[] },
): Promise<readonly GateCheck[]> {
  const isUnreadable = document === null && tree.has(bugsPath);
  return [
    isUnreadable ? unreadableBugsCheck : checkHeadings(document, readClaimedBugIds(parts, state)),
    await checkFilePerBug(tree, "patches", bugs, testPatchPath),
    await checkFilePerBug(tree, "writeups", bugs, (id) => `quality/writeups/${id}.md`),
    await checkFilePerBug(tree, "red_logs", bugs, (id) => `quality/results/${id}.red.log`),
    checkRegressionTests(state, bugs, await hashPatches(tree, bugs)),
  ];
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
    const checkName = `phase_${id}`;
    phaseChecks.push(
      result.holds
        ? passed(checkName, `${name}: its gate holds`)
        : failed(checkName, describeFailures(result.failures)),
    );
  }

  return { phaseChecks, placeholders };
}

const describeFailures = (failures: Awaited<ReturnType<Verifier["prove"]>>["failures"]): string =>
  failures
    .map(
      ({ rule, file, found, expected }) => `${file ?? rule}: found ${found}, expected ${expected}`,
    )
    .join(", ");

/** The ids that agents named as confirmed bugs, in the phases that confirm them. */
function readClaimedBugIds(parts: Parts, state: RunView): readonly string[] {
  const cursors = ["3", "5"].map((phase) => state.cursors[phase]);
  return collectBugIds(
    cursors.map((cursor) => (cursor === undefined ? null : readReturn(parts, cursor, "do"))),
  );
}

/** The newest result of the gate in the last phase. */
export function findGate(state: RunView): GateResult | null {
  const cursor = state.cursors["6"];
  for (const outcome of [cursor?.last["do"], cursor?.last["terminal"]]) {
    const gate = outcome === undefined ? null : findFact(outcome.facts, gateFact, GateResult);
    if (gate !== null) return gate;
  }

  return null;
}
