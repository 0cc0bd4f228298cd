// worker-result: schema of what a portfolio's worker returns when its work is over. It is a claim.

import * as v from "valibot";
import { TaskId } from "./portfolio.ts";

const claimText = (about: string) =>
  v.pipe(v.string(), v.minLength(1), v.maxLength(20_000), v.description(about));
const claimList = (about: string) =>
  v.pipe(v.array(v.unknown()), v.maxLength(200), v.description(about));

/** The agent is shown these descriptions. */
export const WorkerResult = v.looseObject({
  task_id: v.pipe(TaskId, v.description("the task's id, as the goal names it")),
  event_nonce: claimText("the nonce that the goal names, copied"),
  status: v.pipe(
    v.picklist(["done", "failed", "needs_adjustment"]),
    v.description("what you think the task came to"),
  ),
  summary: claimText("what was done, in two to eight lines"),
  evidence: claimList("commands with what they gave, or paths"),
  verification: v.looseObject({
    confidence: v.pipe(
      v.picklist(["high", "medium", "low"]),
      v.description("how sure you are that every criterion is met"),
    ),
    complete: v.pipe(v.boolean(), v.description("whether you checked every criterion")),
    checks_attempted: claimList("what you ran"),
    checks_passed: claimList("what of it passed"),
    checks_failed: claimList("what of it failed"),
    why_not_fully_verifiable: v.pipe(
      v.nullable(v.string()),
      v.description("why something could not be checked; null if everything could"),
    ),
  }),
  next_suggestions: claimList("tasks that should follow, one sentence each; empty if none"),
  risks_or_unknowns: claimList("what the next person should know; empty if nothing"),
});
export type WorkerResult = v.InferOutput<typeof WorkerResult>;
