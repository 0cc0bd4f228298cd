// explore-draft: builds the events of an imaginary run, so that a flow can be explored without
// executing it.

import type { Draft, Entry } from "../contracts/event.ts";
import type { Flow } from "../contracts/flow.ts";
import type { ScalarsByName } from "./explore-domains.ts";

const hash = "0".repeat(64);
const sha = "0".repeat(40);
const limits = { profile: null, soft_ratio: 1, limits: {} };

/** Events of an imaginary run, to explore a flow. */
export const exploredEvents = {
  started: { event: "run_started", ack: hash, from_state: "draft", to_state: "running" } as Draft,
  opened: (opening: number): Draft => ({
    event: "run_opened",
    opening,
    owner: { pid: 0, host: "" },
    product: "",
    isolation: { level: "none", mechanism: "none", enforced: [], not_enforced: [] },
  }),
  turn: (attempt: string, says: ScalarsByName): Draft => ({
    event: "turn_ended",
    attempt,
    agent: "explored",
    stop: "end_turn",
    says: { ...says },
    said: "",
    promised: false,
    announced_more: false,
    confidence: null,
    usage: { tokens: 1, calls: 1, minutes: 0, source: "estimated" },
  }),
  drafted: (flow: Flow, options: ScalarsByName): Draft => ({
    event: "run_drafted",
    run_id: "run-2000-01-01-000000",
    product: "",
    flow,
    flow_hash: hash,
    prompts: {},
    registry: {},
    objective: {
      goal: "explored",
      scope: ["**"],
      done_criteria: [{ id: "c1", text: "explored", check: null }],
      max_budget: limits,
      completion_mode: "promise",
      completion_promise: "DONE",
      risk_level: "medium",
      handoff_mode: "manual",
      approval_policy: "none",
      red_green: [],
      holdout: [],
    },
    options: { ...options },
    budget: limits,
    limits: { run: {}, phase: {} },
    base: { branch: null, commit: sha, tree: sha },
    checks: [],
    cast: {},
    isolation: "none",
    config_hash: hash,
    ack: hash,
    to_state: "draft",
  }),
};

export function toEntry(draft: Draft, seq: number): Entry {
  return {
    actor: "system",
    reason_code: "ok",
    ...draft,
    seq,
    epoch: 0,
    ts: "2000-01-01T00:00:00.000Z",
    active_ms: 0,
    prev: "",
    crc: "",
  };
}
