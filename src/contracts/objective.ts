// objective: schemas of the objective, its criteria and modes, the run states and the transitions
// between them.

import * as v from "valibot";
import { Budget } from "./budget.ts";

export const completionModes = ["promise", "objective"] as const;
export const riskLevels = ["low", "medium", "high"] as const;
export const handoffModes = ["auto", "manual"] as const;
export const approvalPolicies = [
  "none",
  "required-before-execute",
  "required-before-merge",
] as const;

/** One measurable condition of being done; `check` is the command that proves it, if any. */
export const Criterion = v.strictObject({
  id: v.string(),
  text: v.string(),
  check: v.nullable(v.string()),
});
export type Criterion = v.InferOutput<typeof Criterion>;

/** The user's goal and its limits; inferred defaults are filled in. */
export const Objective = v.strictObject({
  goal: v.pipe(v.string(), v.minLength(1)),
  scope: v.pipe(v.array(v.string()), v.minLength(1)),
  done_criteria: v.pipe(v.array(Criterion), v.minLength(1)),
  max_budget: Budget,
  completion_mode: v.picklist(completionModes),
  completion_promise: v.pipe(v.string(), v.minLength(1)),
  risk_level: v.picklist(riskLevels),
  handoff_mode: v.picklist(handoffModes),
  approval_policy: v.picklist(approvalPolicies),
  red_green: v.array(v.string()),
  holdout: v.array(v.string()),
});
export type Objective = v.InferOutput<typeof Objective>;

/** The confidence below which a turn may not continue on its own. */
export const confidenceFloors = { low: 0.5, medium: 0.6, high: 0.75 } as const satisfies Record<
  (typeof riskLevels)[number],
  number
>;

export const runStates = ["draft", "running", "paused", "stopped", "completed"] as const;
export const RunStatus = v.picklist(runStates);
export type RunStatus = v.InferOutput<typeof RunStatus>;
/**
 * The only allowed changes of a run's state; any other is refused with `invalid_state_transition`.
 */
export const runTransitions: readonly (readonly [RunStatus, RunStatus])[] = [
  ["draft", "running"],
  ["running", "paused"],
  ["paused", "running"],
  ["running", "stopped"],
  ["paused", "stopped"],
  ["running", "completed"],
];

/** What a run's work came to, from proved to shown not to hold. */
export const verdicts = ["verified", "verified_with_gaps", "unverified", "refuted"] as const;
/**
 * The verdict that work needs before it lands; `unverified` also admits refuted work, and only a
 * flag can say so.
 */
export const landMinimums = ["verified", "verified_with_gaps", "unverified"] as const;
export type LandMinimum = (typeof landMinimums)[number];
export const Verdict = v.picklist(verdicts);
export type Verdict = v.InferOutput<typeof Verdict>;
