import { type Verdict, verdicts } from "../contracts/objective.ts";
import type { ReasonCode } from "../contracts/reason.ts";
import type { RunView } from "./state.ts";

export const isVerdict = (value: unknown): value is Verdict => typeof value === "string" && (verdicts as readonly string[]).includes(value);

export type VerdictFound = { readonly verdict: Verdict; readonly gaps: readonly string[] };

/** What follows from the evidence. Artifacts that hold their gates and nothing else, and child runs that are not verified, leave gaps in it. */
export function verdictOf(run: RunView): VerdictFound {
  const judged = judgedBy(run);
  const hollow = Object.entries(run.hollow ?? {}).map(([file, why]) => `${file} is hollow: ${why.replaceAll(";", ",")}`);
  const short = Object.entries(run.called ?? {})
    .filter(([, verdict]) => verdict !== "verified")
    .map(([step, verdict]) => `the child run of ${step} is ${verdict}`);
  if (hollow.length + short.length === 0) return judged;
  return { verdict: judged.verdict === "verified" ? "verified_with_gaps" : judged.verdict, gaps: [...judged.gaps, ...hollow, ...short] };
}

/**
 * The newest verdict of the runner's own; else whether every criterion that can be run holds. A flow without checks is judged by
 * its gates and by what its child runs proved: it comes to its end only past them, so where some were asked, they held.
 */
function judgedBy(run: RunView): VerdictFound {
  if (run.judged !== null) return run.judged;
  const criteria = Object.values(run.checks).filter(({ latest }) => latest.check.kind === "criterion");
  const called = Object.values(run.called ?? {}).filter((verdict) => verdict === "verified" || verdict === "verified_with_gaps");
  const isGated = !hasChecks(run) && (run.gated ?? 0) + run.proved.length + called.length > 0;
  const isProved = criteria.length > 0 ? criteria.every(({ latest }) => latest.status === "passed") : isGated;
  return { verdict: isProved ? "verified" : "unverified", gaps: [] };
}

/** Whether a step of the flow runs checks: then they are what proves its work, and gates alone do not. */
function hasChecks({ drafted: { flow } }: RunView): boolean {
  const phases = [...(flow.before ?? []), ...("read" in flow.phases ? [] : flow.phases), ...(flow.after ?? [])];
  const steps = [...phases.flatMap((phase) => phase.steps), ...(flow.steps ?? []), ...(flow.closing ?? [])];
  return steps.some(
    ({ check, tasks }) => check !== undefined || [...(tasks?.each ?? []), ...(tasks?.wave ?? [])].some((one) => one.check !== undefined),
  );
}

export const completionCodes = {
  verified: "completion_verified",
  verified_with_gaps: "completion_with_gaps",
  unverified: "completion_unverified",
  refuted: "completion_unverified",
} as const satisfies Record<Verdict, ReasonCode>;
