// protected-files: finds and records changes of the files that judge a run (tests, settings), and
// gives a verifier's request what it needs so that the base's files judge instead of refused ones.
// Asked wherever a command of the runner decides something.

import type { BaseFiles } from "../ports/verifier.ts";
import type { Check, ReviewPoint, ProtectedChange, TestTally } from "../contracts/evidence.ts";
import type { GitSha, Hash } from "../contracts/ids.ts";
import type { RunView } from "../core/state.ts";
import { listJudgingCommands } from "./judging-commands.ts";
import { type StepExecution, readContext } from "./step-execution.ts";
import type { Runtime } from "./runtime.ts";

export type ProtectedState = {
  /** Names exactly the content of the protected files, so that a person can approve it. */
  readonly content: Hash;
  readonly changes: readonly ProtectedChange[];
  /** Those of the changes that do not count. */
  readonly refused: readonly ProtectedChange[];
  readonly reviewPoints: readonly ReviewPoint[];
  /** Checks that run a script or target which the base doesn't have: nothing there judges them. */
  readonly newChecks: readonly Check["id"][];
  /** Whether the work changed any file besides tests and others that judge it. */
  readonly changesOtherFiles: boolean;
};
/**
 * The field of a verifier's request: the base's protected files replace those with refused changes.
 */
export type FromBaseField = {
  readonly fromBase?: BaseFiles;
};

/** Which protected files differ from the run's base at a commit. Reads only. */
export async function inspectProtectedFiles(
  runtime: Runtime,
  run: RunView,
  commit: GitSha,
): Promise<ProtectedState> {
  const { base, objective } = run.drafted;
  const {
    content,
    changes,
    reviewPoints = [],
    newChecks = [],
    changesOtherFiles = false,
  } = await runtime.verifier.inspectProtected({
    goal: composeUserText(objective),
    base: base.commit,
    commit,
    scope: objective.scope,
    approved: run.approved ?? [],
    held: run.held ?? [],
    checks: listJudgingCommands(run),
  });

  const refused = changes.filter(({ allowed }) => allowed === null);
  return { content, changes, refused, reviewPoints, newChecks, changesOtherFiles };
}

/** All that the person wrote of the run: the goal, the criteria and their commands. */
const composeUserText = ({ goal, done_criteria }: RunView["drafted"]["objective"]): string =>
  [goal, ...done_criteria.flatMap(({ text, check }) => [text, check ?? ""])].join("\n");

/**
 * Inspects the protected files of the newest commit, and records their changes if they differ from
 * what was recorded.
 */
export async function recordProtectedChanges(execution: StepExecution): Promise<ProtectedState> {
  const { run } = readContext(execution);
  const { commit } = run.tip;
  const state = await inspectProtectedFiles(execution.runtime, run, commit);
  if (!isRecorded(state, run)) {
    const { content, changes, reviewPoints } = state;
    await execution.record({
      event: "oracles_judged",
      attempt: execution.attempt,
      commit,
      content,
      changes: [...changes],
      ...(reviewPoints.length === 0 ? {} : { look: [...reviewPoints] }),
    });
  }

  return state;
}

/** A run without any changes has nothing to record. */
function isRecorded({ content, changes, reviewPoints }: ProtectedState, run: RunView): boolean {
  const recorded = run.oracles ?? { content, changes: [], look: [] };
  return (
    content === recorded.content &&
    isSameJson(changes, recorded.changes) &&
    isSameJson(reviewPoints, recorded.look ?? [])
  );
}

const isSameJson = (one: readonly object[], other: readonly object[]): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

export function fromBaseField(run: RunView, refused: readonly ProtectedChange[]): FromBaseField {
  return refused.length === 0
    ? {}
    : { fromBase: { base: run.drafted.base.commit, changes: refused } };
}

/**
 * The fields of a verifier's request with what the run's checks reported of their tests on its
 * base.
 */
export type BaseTests = {
  readonly talliesBefore?: Readonly<Record<string, TestTally>>;
  readonly evidenceBefore?: Readonly<Record<string, Hash>>;
};

/**
 * Test counts are left out if protected files were changed with permission, since fewer tests may
 * then be intended.
 */
export function baseTestFields(run: RunView, changes: readonly ProtectedChange[]): BaseTests {
  const baselines = Object.entries(run.checks).filter(([, { isLate }]) => isLate !== true);
  const evidence = {
    evidenceBefore: Object.fromEntries(
      baselines.map(([id, { baseline }]) => [id, baseline.evidence]),
    ),
  };

  const mayHaveFewer = ({ allowed }: ProtectedChange): boolean =>
    allowed !== null && allowed !== "added" && allowed !== "held";
  if (changes.some(mayHaveFewer)) return evidence;
  const tallies = baselines.flatMap(([id, { baseline }]) =>
    baseline.tests === undefined ? [] : [[id, baseline.tests] as const],
  );

  return { ...evidence, talliesBefore: Object.fromEntries(tallies) };
}

const shownMax = 20;

export const describeRefused = (refused: readonly ProtectedChange[]): string =>
  refused
    .slice(0, shownMax)
    .map(({ path, how, detail }) => `${path} (${how}: ${detail})`)
    .join("; ");
