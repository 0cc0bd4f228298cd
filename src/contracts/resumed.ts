// resumed: schema of what a run takes over from another tool's run: where it was and what it had
// used. It is only data: every command comes from the project's own documents.

import * as v from "valibot";
import { Check } from "./evidence.ts";
import { Facts } from "./outcome.ts";

const text = v.string();
const amountMax = 1e12;
const Amount = v.pipe(v.number(), v.minValue(0), v.maxValue(amountMax));
const Count = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1_000_000));

export const ResumedPhase = v.strictObject({
  id: text,
  /** The step at which it continues; left out, it starts over. */
  step: v.optional(text),
  /** Facts of earlier steps, by step. */
  facts: v.optional(v.record(text, Facts)),
  /** How often each loop back was taken. */
  counts: v.record(text, Count),
  tokens: Amount,
  /** The checks that judge it, as its own plan and roadmap give them. */
  checks: v.optional(v.array(Check)),
  /** Tasks whose commits exist: they are not done again. */
  tasks_done: v.optional(v.array(text)),
});
export type ResumedPhase = v.InferOutput<typeof ResumedPhase>;

export const Resumed = v.strictObject({
  /**
   * The name the other tool gave its run, and the file it was read from; its content is among the
   * run's documents.
   */
  run: text,
  path: text,
  status: text,
  tokens: Amount,
  minutes: Amount,
  retries: Count,
  breaker: v.strictObject({
    is_open: v.boolean(),
    no_progress: Count,
    same: Count,
    last_error: v.nullable(text),
  }),
  phases: v.array(ResumedPhase),
});
export type Resumed = v.InferOutput<typeof Resumed>;
