// response-schemas: the JSON that `status`, `report`, `roadmap list`, `estimate`, `diff`,
// `transcript` and `runs` promise to programs.

import * as v from "valibot";
import { Budget } from "../../contracts/budget.ts";
import { IsolationInForce } from "../../contracts/event.ts";
import { RunStatus, Verdict } from "../../contracts/objective.ts";
import { RoadmapPhase } from "../../contracts/roadmap.ts";
import { FailureCategory } from "../../contracts/roadmap-values.ts";

const text = v.string();
/** The fields of every response. */
const responseFields = {
  result: v.picklist(["PASS", "WARN", "FAIL"]),
  reason_code: text,
  run_id: v.nullable(text),
  state: v.union([RunStatus, v.literal("idle")]),
  message: text,
  warnings: v.array(text),
  remediation: v.array(text),
};
/** Lines are null for a binary file. */
const changedFileFields = { path: text, insertions: v.nullable(v.number()), deletions: v.nullable(v.number()) };
const amounts = v.record(text, v.nullable(v.number()));

/** One phase: a row of the table. */
const phaseFields = {
  id: text,
  name: text,
  status: v.picklist(["not_started", "in_progress", "needs_human_verification", "completed", "failed", "skipped"]),
  score: v.nullable(v.number()),
  duration_minutes: v.number(),
  tokens: v.number(),
  usd: v.number(),
  step: v.nullable(text),
  tasks: v.nullable(v.looseObject({ done: v.number(), failed: v.number(), total: v.number() })),
  waits_for: v.array(text),
  because: v.nullable(text),
};

export const statusSchema = v.looseObject({
  ...responseFields,
  /** Null only while there is no run. */
  objective: v.nullable(
    v.looseObject({ goal: text, scope: v.array(text), done_criteria: v.array(v.looseObject({ id: text, text })), max_budget: Budget }),
  ),
  budget: v.looseObject({ limits: amounts, counters: amounts, ratios: amounts, warnings: v.array(text) }),
  progress: v.looseObject({ completed_steps: v.array(text), pending_steps: v.array(text), blockers: v.array(text) }),
  phases: v.array(v.looseObject(phaseFields)),
  /** Only while there is a run. */
  breaker: v.optional(v.looseObject({ state: v.picklist(["closed", "open", "half_open"]), cooldown_until: v.nullable(text) })),
  /** Detected work; only while there is no run. */
  found: v.optional(v.array(v.looseObject({ flow: text, files: v.array(text), standing: text, begun: v.boolean() }))),
  isolation: v.nullable(IsolationInForce),
  verdict: v.nullable(Verdict),
  next_actions: v.array(text),
});

export const reportSchema = v.looseObject({
  ...responseFields,
  summary: text,
  phases: v.array(
    v.looseObject({
      ...phaseFields,
      proof: v.array(v.looseObject({ id: text, title: text, command: text, status: text, exit_code: v.nullable(v.number()) })),
      commits: v.array(v.looseObject({ sha: text, subject: text, files: v.number() })),
      false_claims: v.array(v.looseObject({ agent: text, text, why: text })),
      rolled_back_to: v.nullable(text),
      left_behind: v.nullable(text),
      post_mortem: v.nullable(v.looseObject({ category: FailureCategory, description: text, prevention_rule: text })),
    }),
  ),
  decisions: v.array(v.unknown()),
  blockers: v.array(text),
  recommendations: v.array(text),
  evidence: v.array(v.unknown()),
  changes: v.looseObject({
    files: v.number(),
    insertions: v.nullable(v.number()),
    deletions: v.nullable(v.number()),
    commits: v.array(v.unknown()),
    paths: v.optional(v.array(v.looseObject(changedFileFields))),
  }),
  cost: v.looseObject({ tokens: v.number(), usd: v.number(), minutes: v.number(), calls: v.number() }),
  verdict: v.nullable(Verdict),
});

const finding = v.looseObject({ file: text, line: v.number(), column: v.number(), rule: text, message: text, severity: text });

export const roadmapListSchema = v.looseObject({
  ...responseFields,
  state: v.nullable(text),
  roadmap: text,
  spec: v.nullable(text),
  phases: v.array(RoadmapPhase),
  /** Ids of finished phases, according to state.json, the archive and the checkboxes. */
  completed: v.array(text),
  problems: v.array(finding),
});

const range = v.looseObject({ p50: v.number(), p90: v.number() });
const estimated = { tokens: range, minutes: v.nullable(range), usd: v.nullable(range), success: v.nullable(v.number()), basis: text };
/** How accurate such estimates were; null while too little is known. */
const record = v.nullable(
  v.looseObject({ forecasts: v.number(), within_p90: v.number(), within_p50: v.number(), bias: v.number(), brier: v.number() }),
);

export const estimateSchema = v.looseObject({
  ...responseFields,
  state: v.nullable(text),
  roadmap: text,
  phases: v.array(v.looseObject({ id: text, name: text, planned: v.boolean(), warning: v.nullable(text), ...estimated })),
  total: v.looseObject(estimated),
  caps: v.looseObject({ tokens_per_phase: v.number(), tokens_total: v.number() }),
  record,
});

const maybeText = v.nullable(text);

export const diffSchema = v.looseObject({
  ...responseFields,
  base: text,
  tip: text,
  files: v.array(v.looseObject(changedFileFields)),
  commits: v.array(v.looseObject({ sha: text, subject: text })),
  /** Not with --stat, nor if nothing changed. */
  patch: v.optional(text),
});

const toolCall = v.looseObject({
  kind: v.literal("tool"),
  at: text,
  call: text,
  title: text,
  tool: maybeText,
  path: maybeText,
  input: maybeText,
  ended_at: maybeText,
  status: text,
  output: maybeText,
});
const agentText = v.looseObject({ kind: v.picklist(["said", "thought"]), at: text, text });

export const transcriptSchema = v.looseObject({
  ...responseFields,
  turns: v.array(
    v.looseObject({
      attempt: text,
      agent: text,
      from: text,
      to: maybeText,
      how: maybeText,
      left_out: v.number(),
      entries: v.array(v.union([toolCall, agentText])),
    }),
  ),
});

export const runsSchema = v.looseObject({
  ...responseFields,
  state: v.null(),
  runs: v.array(
    v.looseObject({
      run_id: text,
      state: text,
      live: v.boolean(),
      current: v.boolean(),
      foreign: v.boolean(),
      flow: maybeText,
      goal: maybeText,
      verdict: maybeText,
      tokens: v.number(),
      usd: v.number(),
      updated_at: maybeText,
      disk_bytes: v.number(),
    }),
  ),
});
