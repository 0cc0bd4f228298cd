import { type Verdict, verdicts } from "../contracts/objective.ts";
import type { ReasonCode } from "../contracts/reason.ts";
import type { RunView } from "./state.ts";

export const isVerdict = (value: unknown): value is Verdict => typeof value === "string" && (verdicts as readonly string[]).includes(value);

/** What follows from the evidence: the newest verdict of the runner's own, else whether every criterion that can be run holds. */
export function verdictOf(run: RunView): { readonly verdict: Verdict; readonly gaps: readonly string[] } {
  if (run.judged !== null) return run.judged;
  const criteria = Object.values(run.checks).filter(({ latest }) => latest.check.kind === "criterion");
  const isProved = criteria.length > 0 && criteria.every(({ latest }) => latest.status === "passed");
  return { verdict: isProved ? "verified" : "unverified", gaps: [] };
}

export const completionCodes = {
  verified: "completion_verified",
  verified_with_gaps: "completion_with_gaps",
  unverified: "completion_unverified",
  refuted: "completion_unverified",
} as const satisfies Record<Verdict, ReasonCode>;
