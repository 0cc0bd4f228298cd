// learnings: what a run has learned from its failures and from people's verdicts, and which roles see it.
//
// Invariants:
//   L1. A learning whose re-check fails is shown to no one; it stays in the file.
//   L2. What is shown is bounded, the newest first: a prompt isn't an archive.

import type { Entry } from "../../../contracts/event.ts";
import type { CheckResult } from "../../../contracts/evidence.ts";
import type { PostMortem } from "../../../contracts/roadmap-reports.ts";
import type { FailureCategory } from "../../../contracts/roadmap-values.ts";

/** Where a learning comes from, so that a person can look it up. */
export type Provenance = { readonly run_id: string; readonly recorded_at: string; readonly source: string };

type Common = {
  readonly phase_id: string;
  readonly phase_name: string;
  readonly provenance: Provenance;
  /** A command that holds as long as the learning does. */
  readonly recheck: string | null;
};
export type FailureLearning = Common & { readonly kind: "failure"; readonly category: FailureCategory; readonly prevention_rule: string };
export type VerdictLearning = Common & {
  readonly kind: "verdict";
  readonly verdict: "pass" | "fail" | "issues_found";
  readonly issues: readonly string[];
};
export type Learning = FailureLearning | VerdictLearning;

type From = { readonly run_id: string; readonly recheck?: string | null };

export function learningFromPostMortem(post: PostMortem, { run_id, recheck = null }: From): FailureLearning {
  return {
    kind: "failure",
    phase_id: post.phase_id,
    phase_name: post.phase_name,
    category: post.root_cause.category,
    prevention_rule: post.prevention_rule,
    provenance: { run_id, recorded_at: post.timestamp, source: `phase-${post.phase_id}-postmortem.json` },
    recheck,
  };
}

/** Categories of failures that are in the code, and not only in how the work was done: undoing the work does not undo them. */
const lasting: ReadonlySet<FailureCategory> = new Set(["acceptance_criteria_unmet", "tool_failure"]);

/**
 * The command that holds as long as a failure has something to teach: the phase's own criterion is still red.
 * Null if the work was at fault, for it was rolled back, and what it taught stays true. `visit`: the entries of the phase.
 */
export function visitRecheck(visit: readonly Entry[], category: FailureCategory): string | null {
  if (!lasting.has(category)) return null;
  const last = new Map<string, CheckResult>();
  for (const entry of visit) {
    if (entry.event !== "step_completed" && entry.event !== "step_failed") continue;
    for (const result of entry.checks ?? []) last.set(result.check.id, result);
  }
  const red = [...last.values()].find(
    ({ check, status }) => check.kind === "criterion" && check.expect === undefined && (status === "failed" || status === "not_found"),
  );
  return red === undefined ? null : `! (\n${red.check.command}\n)`;
}

export type VerdictGiven = {
  readonly phase_id: string;
  readonly phase_name: string;
  readonly verdict: VerdictLearning["verdict"];
  readonly issues: readonly string[];
  readonly timestamp: string;
};

export function learningFromVerdict(given: VerdictGiven, { run_id, recheck = null }: From): VerdictLearning {
  const { phase_id, phase_name, verdict, issues, timestamp } = given;
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

/** Roles that design or do the work see them; judges don't, so that they judge independently. */
export const learningRoles: readonly string[] = ["planner", "executor"];

const shownMax = 12;

/** `holds`: which re-check commands hold now. One that was not run is not known to fail. */
export function learningsFor(role: string, learnings: readonly Learning[], holds: ReadonlyMap<string, boolean>): readonly Learning[] {
  if (!learningRoles.includes(role)) return [];
  const current = learnings.filter(({ recheck }) => recheck === null || holds.get(recheck) !== false); // L1
  const seen = new Set<string>();
  return current
    .toReversed()
    .filter((learning) => {
      const says = learning.kind === "failure" ? learning.prevention_rule : `${learning.phase_id}: ${learning.verdict}`;
      return !seen.has(says) && seen.add(says);
    })
    .slice(0, shownMax); // L2
}

/** The re-check commands that must be run before learnings are shown. */
export const learningRechecks = (learnings: readonly Learning[]): readonly string[] => [
  ...new Set(learnings.flatMap(({ recheck }) => recheck ?? [])),
];
