// log-rows: turns a journal entry into the row that a page lists: number, time, shape, place,
// sentence, actor, reason.

import type { Entry, EventName } from "../../contracts/event.ts";
import { phaseOfEntry } from "../../insight/attempt-path.ts";
import { describeRunEvent } from "../log-lines.ts";
import type { Shape } from "./shape.ts";

export type LogRow = {
  readonly seq: number;
  readonly at: string;
  readonly event: string;
  readonly shape: Shape;
  /** The phase it is about; empty if it is about the run. */
  readonly phase: string;
  readonly text: string;
  /** Empty if it was the runner itself. */
  readonly actor: string;
  readonly reason: string;
};

/** Some lines of a journal, of `total`. */
export type LogPage = { readonly rows: readonly LogRow[]; readonly total: number };

const textCharsMax = 1_000;

export function toLogRow(entry: Entry): LogRow {
  const text = describeRunEvent(entry);
  return {
    seq: entry.seq,
    at: entry.ts,
    event: entry.event,
    shape: entryShape(entry),
    phase: phaseOfEntry(entry) ?? "",
    text: text.length > textCharsMax ? `${text.slice(0, textCharsMax)}…` : text,
    actor: entry.actor === "system" ? "" : entry.actor,
    reason: entry.reason_code === "ok" ? "" : entry.reason_code,
  };
}

/** Events that are not in this table, and not in `entryShape`, have the shape `waits`. */
const shapes: { readonly [N in EventName]?: Shape } = {
  run_started: "run",
  run_opened: "run",
  run_resumed: "run",
  run_paused: "paused",
  run_stopped: "stopped",
  journal_repaired: "gap",
  step_completed: "ok",
  task_completed: "ok",
  wave_completed: "ok",
  phase_completed: "ok",
  closing_completed: "ok",
  changes_applied: "ok",
  block_answered: "ok",
  limit_raised: "ok",
  oracles_approved: "ok",
  tests_held: "waits",
  tests_put_back: "ok",
  circuit_breaker_closed: "ok",
  step_failed: "bad",
  task_failed: "bad",
  wave_failed: "bad",
  phase_failed: "bad",
  closing_failed: "bad",
  step_interrupted: "bad",
  circuit_breaker_opened: "bad",
  turn_ended: "claim",
  block_opened: "you",
  phase_skipped: "skipped",
  task_skipped: "skipped",
  step_skipped: "skipped",
  step_retried: "again",
  phases_rewound: "again",
  phase_reopened: "again",
  attempt_settled: "again",
};

function entryShape(entry: Entry): Shape {
  if (entry.event === "run_completed") {
    if (entry.verdict === "verified") return "ok";
    return entry.verdict === "refuted" ? "bad" : "gap";
  }

  if (entry.event === "claims_checked") {
    return entry.claims.some(({ verdict }) => verdict === "false") ? "bad" : "claim";
  }

  if (entry.event === "oracles_judged") {
    return entry.changes.some(({ allowed }) => allowed === null) ? "you" : "waits";
  }

  if (entry.event === "run_paused" && entry.reason_code.startsWith("provider")) return "parked";
  return shapes[entry.event] ?? "waits";
}
