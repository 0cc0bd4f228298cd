// draft: how every run of a bench begins: drafted, acknowledged, started and opened.

import type { Draft, EventOf } from "../src/contracts/event.ts";

export const zeros = { hash: "0".repeat(64), sha: "0".repeat(40) };

type Wanted = Pick<EventOf<"run_drafted">, "flow"> &
  Partial<Pick<EventOf<"run_drafted">, "run_id" | "limits" | "cast">>;

/** A run of this flow with more budget than it can use. */
export function beginningOf(wanted: Wanted): Draft[] {
  const budget = {
    profile: null,
    soft_ratio: 1,
    limits: { tokens: 1e12, minutes: 1e9, calls: 1e9 },
  };

  return [
    {
      event: "run_drafted",
      run_id: "run-2026-01-01-000000",
      product: "bench",
      flow_hash: zeros.hash,
      prompts: { "work.md": zeros.hash },
      registry: {},
      objective: {
        goal: "measure",
        scope: ["**"],
        done_criteria: [{ id: "c1", text: "measured", check: null }],
        max_budget: budget,
        completion_mode: "promise",
        completion_promise: "DONE",
        risk_level: "medium",
        handoff_mode: "manual",
        approval_policy: "none",
        red_green: [],
        holdout: [],
      },
      options: {},
      budget,
      limits: { run: {}, phase: {} },
      base: { branch: "main", commit: zeros.sha, tree: zeros.sha },
      checks: [],
      cast: { "*": { agent: "scripted" } },
      isolation: "clone",
      config_hash: zeros.hash,
      ack: zeros.hash,
      to_state: "draft",
      ...wanted,
    },
    { event: "preview_acknowledged", ack: zeros.hash },
    { event: "run_started", ack: zeros.hash, from_state: "draft", to_state: "running" },
    {
      event: "run_opened",
      opening: 1,
      owner: { pid: process.pid, host: "bench" },
      product: "bench",
      isolation: { level: "clone", mechanism: "bench", enforced: [], not_enforced: [] },
    },
  ];
}
