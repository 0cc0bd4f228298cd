// learnings: derives learnings from failures and people's verdicts, and selects which of them a
// role sees.
//
// Invariants:
//   L1. A learning whose re-check fails is not shown to agents; it stays in the file.
//   L2. Only the newest learnings are shown, up to a limit.

import type { Entry } from "../../../contracts/event.ts";
import type { CheckResult } from "../../../contracts/evidence.ts";
import type { PostMortem } from "../../../contracts/roadmap-reports.ts";
import type { FailureCategory } from "../../../contracts/roadmap-values.ts";

/** Where a learning comes from, so that a person can look it up. */
export type Provenance = {
  readonly run_id: string;
  readonly recorded_at: string;
  readonly source: string;
};

type LearningBase = {
  readonly phase_id: string;
  readonly phase_name: string;
  readonly provenance: Provenance;
  /** A command that passes as long as the learning is still true. */
  readonly recheck: string | null;
};
export type FailureLearning = LearningBase & {
  readonly kind: "failure";
  readonly category: FailureCategory;
  readonly prevention_rule: string;
};
export type VerdictLearning = LearningBase & {
  readonly kind: "verdict";
  readonly verdict: "pass" | "fail" | "issues_found";
  readonly issues: readonly string[];
};
export type Learning = FailureLearning | VerdictLearning;

type Origin = { readonly run_id: string; readonly recheck?: string | null };

export function createFailureLearning(
  postMortem: PostMortem,
  { run_id, recheck = null }: Origin,
): FailureLearning {
  return {
    kind: "failure",
    phase_id: postMortem.phase_id,
    phase_name: postMortem.phase_name,
    category: postMortem.root_cause.category,
    prevention_rule: postMortem.prevention_rule,
    provenance: {
      run_id,
      recorded_at: postMortem.timestamp,
      source: `phase-${postMortem.phase_id}-postmortem.json`,
    },
    recheck,
  };
}

/** Failures that are about the code itself: rolling back the work does not remove their cause. */
const lastingCategories: ReadonlySet<FailureCategory> = new Set([
  "acceptance_criteria_unmet",
  "tool_failure",
]);

/**
 * A shell command that passes while the failed criterion of the phase still fails: `! ( npm test
 * )`. Once the criterion passes, the command fails and the learning is outdated. Null if the work
 * itself was at fault: that learning stays true.
 */
export function findRecheck(
  phaseEntries: readonly Entry[],
  category: FailureCategory,
): string | null {
  if (!lastingCategories.has(category)) return null;
  const latestResults = new Map<string, CheckResult>();

  for (const entry of phaseEntries) {
    if (entry.event !== "step_completed" && entry.event !== "step_failed") continue;
    for (const result of entry.checks ?? []) latestResults.set(result.check.id, result);
  }

  const failedCriterion = [...latestResults.values()].find(
    ({ check, status }) =>
      check.kind === "criterion" &&
      check.expect === undefined &&
      (status === "failed" || status === "not_found"),
  );
  return failedCriterion === undefined ? null : `! (\n${failedCriterion.check.command}\n)`;
}

export type PersonVerdict = {
  readonly phase_id: string;
  readonly phase_name: string;
  readonly verdict: VerdictLearning["verdict"];
  readonly issues: readonly string[];
  readonly timestamp: string;
};

export function createVerdictLearning(
  personVerdict: PersonVerdict,
  { run_id, recheck = null }: Origin,
): VerdictLearning {
  const { phase_id, phase_name, verdict, issues, timestamp } = personVerdict;
  return {
    kind: "verdict",
    phase_id,
    phase_name,
    verdict,
    issues: [...issues],
    provenance: { run_id, recorded_at: timestamp, source: `verdict on phase ${phase_id}` },
    recheck,
  };
}

/**
 * Roles that plan or do the work see learnings; judges do not, so that they judge independently.
 */
export const learningRoles: readonly string[] = ["planner", "executor"];

const learningsShownMax = 12;

/**
 * The learnings for a role, newest first. `recheckResults`: which re-check commands pass now. A
 * learning whose command was not run is shown.
 */
export function selectLearnings(
  role: string,
  learnings: readonly Learning[],
  recheckResults: ReadonlyMap<string, boolean>,
): readonly Learning[] {
  if (!learningRoles.includes(role)) return [];
  const current = learnings.filter(
    ({ recheck }) => recheck === null || recheckResults.get(recheck) !== false,
  ); // L1

  const newestByKey = new Map<string, Learning>();
  for (const learning of current.toReversed()) {
    const key =
      learning.kind === "failure"
        ? learning.prevention_rule
        : `${learning.phase_id}: ${learning.verdict}`;
    if (!newestByKey.has(key)) newestByKey.set(key, learning); // the same rule is shown once
  }

  return [...newestByKey.values()].slice(0, learningsShownMax); // L2
}

/** The re-check commands of these learnings, each once. */
export const listRechecks = (learnings: readonly Learning[]): readonly string[] => [
  ...new Set(learnings.flatMap(({ recheck }) => recheck ?? [])),
];
