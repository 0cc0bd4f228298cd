// outcome: schema of a step attempt's outcome: facts the runner found and values the agent
// reported.

import * as v from "valibot";
import { CheckResult } from "./evidence.ts";

const Scalar = v.union([v.string(), v.number(), v.boolean()]);

/** What the runner found, by name. Rows may route on these. */
export const Facts = v.record(v.string(), Scalar);
export type Facts = v.InferOutput<typeof Facts>;

/**
 * The short values of an agent's return: enums, numbers and booleans. Flow rows may send work back
 * by them, but never complete it.
 */
export const Says = v.record(v.string(), Scalar);
export type Says = v.InferOutput<typeof Says>;

/**
 * A question of a child run that waits for a person: it is asked in the parent's name, and the
 * answer passed on.
 */
export const ChildAsks = v.strictObject({
  run: v.string(),
  block: v.string(),
  question: v.string(),
  options: v.record(v.string(), v.string()),
  recommend: v.optional(v.string()),
  free: v.optional(v.boolean()),
  /** The child run's usage when it asked; already charged. */
  spent: v.strictObject({ tokens: v.number(), calls: v.number(), usd: v.number() }),
});
export type ChildAsks = v.InferOutput<typeof ChildAsks>;

/** The outcome of a step's last attempt, as rows, prompts and playbooks see it. */
export const Outcome = v.strictObject({
  kind: v.picklist(["passed", "failed", "skipped"]),
  facts: Facts,
  says: Says,
  reason: v.nullable(v.string()),
  detail: v.nullable(v.string()),
  checks: v.array(CheckResult),
});
export type Outcome = v.InferOutput<typeof Outcome>;
