// decisions: lists from the journal where the course of a run was decided: what a guardrail held
// back, what a person chose, what was traded for what. It is the report's `decisions[]`.

import type { Entry, Event, EventName } from "../contracts/event.ts";
import { describeRunEvent } from "./log-lines.ts";
import { firstFew, describeSandbox } from "./wording.ts";

export type Decision = {
  readonly seq: number;
  readonly at: string;
  readonly actor: string;
  readonly kind: "guardrail" | "trade_off" | "operator";
  readonly reason_code: string;
  readonly decision: string;
};

const decisionsMax = 500;

/** Oldest first; of a very long run only the newest ones. */
export function listDecisions(entries: readonly Entry[]): readonly Decision[] {
  return entries.flatMap(toDecision).slice(-decisionsMax);
}

function toDecision(entry: Entry): readonly Decision[] {
  const kind = classifyDecision(entry);
  if (kind === null) return [];
  return [
    {
      seq: entry.seq,
      at: entry.ts,
      actor: entry.actor,
      kind,
      reason_code: entry.reason_code,
      decision: describeDecision(entry),
    },
  ];
}

function describeDecision(event: Event): string {
  if (event.event !== "run_opened") return describeRunEvent(event);
  return `Worked in sandbox ${describeSandbox(event.isolation)}, which doesn't block: ${firstFew(event.isolation.not_enforced)}.`;
}

/** Which kind of decision an event is; null if it decided nothing. */
function classifyDecision(event: Event): Decision["kind"] | null {
  if (event.event === "run_opened") {
    return event.isolation.not_enforced.length > 0 ? "trade_off" : null;
  }

  if (event.event === "step_interrupted") {
    if (event.by === "operator") return "operator";
    return event.by === "crash" ? "trade_off" : "guardrail";
  }

  if (event.event === "run_paused" || event.event === "control_requested") {
    return event.actor.startsWith("operator:") ? "operator" : "guardrail";
  }

  if (event.event === "route_taken") return event.pause === undefined ? null : "guardrail";
  if (event.event === "step_failed" || event.event === "step_completed") {
    return kindByReason[event.reason_code] ?? null;
  }

  return kindByEvent[event.event] ?? null;
}

/** Steps that decided more than their own outcome, by their reason code. */
const kindByReason: Readonly<Record<string, Decision["kind"]>> = {
  scope_violation_blocked: "guardrail",
  oracle_changed: "guardrail",
  agent_failed: "guardrail",
  agent_unavailable: "guardrail",
  agent_timeout: "guardrail",
  return_invalid: "guardrail",
  check_regressed: "guardrail",
  check_flaky: "guardrail",
  completion_gates_blocked: "guardrail",
  landed: "trade_off",
  branch_kept: "trade_off",
  checkout_dirty: "trade_off",
  checkout_busy: "trade_off",
  checkout_moved: "trade_off",
  merge_conflict: "trade_off",
  merge_unproved: "trade_off",
};

const kindByEvent: { readonly [N in EventName]?: Decision["kind"] } = {
  preview_acknowledged: "operator",
  run_stopped: "operator",
  run_resumed: "operator",
  limit_raised: "operator",
  review_noted: "operator",
  block_answered: "operator",
  pull_request_opened: "trade_off",
  pull_request_settled: "trade_off",
  run_adopted: "operator",
  run_forked: "operator",
  policy_changed: "operator",
  circuit_breaker_opened: "guardrail",
  circuit_breaker_closed: "guardrail",
  attempt_settled: "trade_off",
  phase_failed: "guardrail",
  phase_skipped: "trade_off",
  task_skipped: "trade_off",
  phases_rewound: "trade_off",
  journal_repaired: "trade_off",
};
