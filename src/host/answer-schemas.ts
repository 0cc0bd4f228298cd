// answer-schemas: the JSON that `status` and `report` promise to programs.

import * as v from "valibot";
import { Budget } from "../contracts/budget.ts";
import { IsolationInForce } from "../contracts/event.ts";
import { RunStatus, Verdict } from "../contracts/objective.ts";

const text = v.string();
const common = {
  result: v.picklist(["PASS", "WARN", "FAIL"]),
  reason_code: text,
  run_id: v.nullable(text),
  state: v.union([RunStatus, v.literal("idle")]),
  message: text,
  warnings: v.array(text),
  remediation: v.array(text),
};
const amounts = v.record(text, v.nullable(v.number()));

export const statusSchema = v.looseObject({
  ...common,
  /** Null only while there is no run. */
  objective: v.nullable(
    v.looseObject({ goal: text, scope: v.array(text), done_criteria: v.array(v.looseObject({ id: text, text })), max_budget: Budget }),
  ),
  budget: v.looseObject({ limits: amounts, counters: amounts, ratios: amounts, warnings: v.array(text) }),
  progress: v.looseObject({ completed_steps: v.array(text), pending_steps: v.array(text), blockers: v.array(text) }),
  isolation: v.nullable(IsolationInForce),
  verdict: v.nullable(Verdict),
  next_actions: v.array(text),
});

export const reportSchema = v.looseObject({
  ...common,
  summary: text,
  decisions: v.array(v.unknown()),
  blockers: v.array(text),
  recommendations: v.array(text),
  evidence: v.array(v.unknown()),
  changes: v.looseObject({
    files: v.number(),
    insertions: v.nullable(v.number()),
    deletions: v.nullable(v.number()),
    commits: v.array(v.unknown()),
  }),
  cost: v.looseObject({ tokens: v.number(), usd: v.number(), minutes: v.number(), calls: v.number() }),
  verdict: v.nullable(Verdict),
});
