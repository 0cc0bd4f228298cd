// tape: a journal in memory for stories about the core: drafts go in, whole entries come out, and a
// fold runs along.

import type { Usage } from "../../../src/contracts/budget.ts";
import { budgetProfiles } from "../../../src/contracts/budget-profiles.ts";
import type { Draft, Entry } from "../../../src/contracts/event.ts";
import type { Check, CheckResult, CheckStatus } from "../../../src/contracts/evidence.ts";
import type { Flow } from "../../../src/contracts/flow.ts";
import { decide } from "../../../src/core/decide.ts";
import { type Fold, fold, openFold } from "../../../src/core/fold.ts";
import type { NextAction } from "../../../src/core/next-action.ts";
import type { Run } from "../../../src/core/state.ts";
import { formatIsoTime } from "../../../src/kit/iso-time.ts";

export const hash = "a".repeat(64);
export const sha = (n: number): string => n.toString(16).padStart(40, "0");
export const usage = (tokens: number, more: Partial<Usage> = {}): Usage => ({
  tokens,
  calls: 1,
  minutes: 0,
  source: "reported",
  ...more,
});

export type DraftedWith = {
  readonly options?: Readonly<Record<string, string | number | boolean>>;
  readonly run?: Readonly<Record<string, number>>;
  readonly phase?: Readonly<Record<string, number>>;
  readonly checks?: readonly Check[];
};

export function runDrafted(
  flow: Flow,
  { options = {}, run = {}, phase = {}, checks = [] }: DraftedWith = {},
): Draft {
  const budget = { profile: null, soft_ratio: 0.8, limits: {} };
  return {
    event: "run_drafted",
    run_id: "run-2026-01-01-000000",
    product: "autopilot test",
    flow,
    flow_hash: hash,
    prompts: {},
    registry: {},
    objective: {
      goal: "make it so",
      scope: ["**"],
      done_criteria: [{ id: "c1", text: "it is so", check: null }],
      max_budget: { ...budgetProfiles.balanced, limits: { ...budgetProfiles.balanced.limits } },
      completion_mode: "promise",
      completion_promise: "DONE",
      risk_level: "medium",
      handoff_mode: "manual",
      approval_policy: "none",
      red_green: [],
      holdout: [],
    },
    options: { ...options },
    budget,
    limits: {
      run: { ...flow.limits?.run, ...run } as Record<string, number>,
      phase: { ...flow.limits?.phase, ...phase } as Record<string, number>,
    },
    base: { branch: "main", commit: sha(1), tree: sha(1) },
    checks: [...checks],
    cast: {},
    isolation: "none",
    config_hash: hash,
    ack: hash,
    to_state: "draft",
  };
}

export const started: Draft = {
  event: "run_started",
  ack: hash,
  from_state: "draft",
  to_state: "running",
};
export const opened = (opening = 1): Draft => ({
  event: "run_opened",
  opening,
  owner: { pid: 1, host: "here" },
  product: "autopilot test",
  isolation: { level: "none", mechanism: "none", enforced: [], not_enforced: [] },
});
/** A turn that ended and said nothing. */
export const turnEnded = (attempt: string, used: Usage): Draft => ({
  event: "turn_ended",
  attempt,
  agent: "a",
  stop: "end",
  says: {},
  said: "",
  promised: false,
  announced_more: false,
  confidence: null,
  usage: used,
});
export const surveyed: Draft = { event: "artifacts_surveyed", gone: [], proved: [] };

/** Each entry a second of worked time after the one before. */
export function entryOf(draft: Draft, seq: number, epoch = 0): Entry {
  const envelope = {
    seq,
    epoch,
    ts: formatIsoTime(1_767_225_600_000 + seq * 1_000),
    active_ms: seq * 1_000,
    prev: "",
    crc: "",
  };

  return { actor: "system", reason_code: "ok", ...draft, ...envelope };
}

export class Tape {
  readonly entries: Entry[];
  #fold: Fold = openFold();
  constructor(entries: readonly Entry[] = []) {
    this.entries = [...entries];
    for (const entry of entries) this.#fold.apply(entry);
  }
  append(...drafts: readonly Draft[]): this {
    for (const draft of drafts) {
      const entry = entryOf(draft, this.entries.length);
      this.#fold.apply(entry);
      this.entries.push(entry);
    }

    return this;
  }
  get run(): Run {
    const { state } = this.#fold;
    if (state.status === "unborn") throw new Error("not drafted yet");
    return state;
  }
  get next(): NextAction {
    return decide(this.#fold.state);
  }
  /** What a fresh fold makes of the same entries. */
  refolded(): Run {
    return fold(this.entries) as Run;
  }
}

/** A running tape, opened and surveyed. */
export const begun = (flow: Flow, how: DraftedWith = {}): Tape =>
  new Tape().append(runDrafted(flow, how), started, opened(), surveyed);

export const check = (id: string, kind: Check["kind"] = "criterion"): Check => ({
  id,
  kind,
  title: id,
  command: id,
  source: "test",
});
export const result = (of: Check, status: CheckStatus): CheckResult => ({
  check: of,
  status,
  exit_code: status === "passed" ? 0 : 1,
  duration_ms: 1,
  evidence: hash,
});
