// run-view: small hand-made runs, for the playbooks' tests. A drafted objective, with a test's
// differences.

import { budgetProfiles } from "../contracts/budget-profiles.ts";
import type { Entry, Envelope, Event, EventOf } from "../contracts/event.ts";
import type { CheckResult, CheckStatus } from "../contracts/evidence.ts";
import type { Flow } from "../contracts/flow.ts";
import type { Objective } from "../contracts/objective.ts";
import { initialState } from "../core/initial-state.ts";
import type { Block, PhaseState, Run, StepCursor } from "../core/state.ts";

const hash = (digit: string): string => digit.repeat(64);
const sha = (digit: string): string => digit.repeat(40);
export const runId = "run-2026-03-01-101500";

export const flow: Flow = {
  flow: "objective",
  version: 1,
  about: "Works towards one goal in cycles.",
  before: [{ id: "baseline", name: "Baseline", steps: [{ id: "measure", run: "baseline" }] }],
  phases: [
    {
      id: "1",
      name: "Objective",
      steps: [
        { id: "pick", run: "next_criterion" },
        { id: "execute", agent: "executor", prompt: "execute.md" },
        { id: "prove", check: ["criteria", "project"] },
      ],
    },
  ],
  after: [{ id: "land", name: "Land", steps: [{ id: "merge", run: "land" }] }],
};

export const objective: Objective = {
  goal: "Make the login test steady",
  scope: ["src/**", "test/**"],
  done_criteria: [
    { id: "c1", text: "the login test passes", check: "npm test -- login" },
    { id: "c2", text: "the reason is written down", check: null },
  ],
  max_budget: budgetProfiles.balanced,
  completion_mode: "promise",
  completion_promise: "DONE",
  risk_level: "medium",
  handoff_mode: "manual",
  approval_policy: "none",
  red_green: [],
  holdout: [],
};

export function drafted(changes: Partial<EventOf<"run_drafted">> = {}): EventOf<"run_drafted"> {
  return {
    event: "run_drafted",
    actor: "operator:kim",
    reason_code: "run_drafted",
    run_id: runId,
    product: "autopilot 0.1.0",
    flow,
    flow_hash: hash("1"),
    prompts: {},
    registry: {},
    objective,
    options: {},
    budget: budgetProfiles.balanced,
    limits: { run: { ...budgetProfiles.balanced.limits }, phase: {} },
    base: { branch: "main", commit: sha("a"), tree: sha("b") },
    checks: [],
    cast: { executor: { agent: "scripted" } },
    isolation: "auto",
    config_hash: hash("2"),
    ack: hash("3"),
    to_state: "draft",
    ...changes,
  };
}

/** Numbers an event as the journal would, ten seconds after the one before. */
export function entryOf(event: Event, seq: number): Entry {
  const seconds = String((seq * 10) % 60).padStart(2, "0");
  const minutes = String(15 + Math.floor((seq * 10) / 60)).padStart(2, "0");

  const envelope: Envelope = {
    seq,
    epoch: 1,
    ts: `2026-03-01T10:${minutes}:${seconds}.000Z`,
    active_ms: seq * 10_000,
    prev: hash("0"),
    crc: "00000000",
  };

  return { ...event, ...envelope };
}

/** A run like the draft except for what is given. */
export function runView(changes: Partial<Run> = {}): Run {
  return {
    ...initialState({ ...drafted(), ...entryOf(drafted(), 0) } as EventOf<"run_drafted"> &
      Envelope),
    ...changes,
  };
}

/** Phases in flow order with these states. */
export const phases = (...states: readonly PhaseState["status"][]): PhaseState[] =>
  runView().phases.map((phase, index) => ({ ...phase, status: states[index] ?? "waiting" }));

export function cursor(path: string, passed: readonly string[]): StepCursor {
  const outcome = {
    kind: "passed" as const,
    facts: {},
    says: {},
    reason: null,
    detail: null,
    checks: [],
  };
  const last = Object.fromEntries(passed.map((step) => [step, outcome]));
  return {
    path,
    kind: "phase",
    phase: path,
    of: null,
    inside: null,
    task: null,
    visit: 1,
    at: passed.length,
    open: null,
    block: null,
    last,
    seen: last,
    ended: {},
    tries: {},
    streak: {},
    taken: {},
    because: null,
    reply: null,
    result: null,
  };
}

export function checked(
  id: string,
  command: string,
  kind: CheckResult["check"]["kind"],
  before: CheckStatus,
  now: CheckStatus,
) {
  const result = (status: CheckStatus, evidence: string): CheckResult => ({
    check: { id, kind, title: id, command, source: "user" },
    status,
    exit_code: status === "passed" ? 0 : 1,
    duration_ms: 1234,
    evidence,
  });

  return { baseline: result(before, hash("4")), latest: result(now, hash("5")) };
}

export const block = (options: Record<string, string>): Block => ({
  block: "block:after.land@1/approve#1",
  cursor: "after.land",
  step: "approve",
  hold: false,
  house: false,
  question: "Merge the finished work?",
  options,
  recommend: "A",
  show: ["report"],
  code: "approval_required",
});

export const overlay = {
  level: "overlay",
  mechanism: "user namespace",
  enforced: ["writes", "network"],
  not_enforced: [],
};
export { hash, sha };
