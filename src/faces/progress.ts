// progress: what a person sees while an agent works: one short line for what passes by, and for each fact worth a glance.

import type { Event, EventName } from "../contracts/event.ts";
import type { Signal } from "../contracts/signal.ts";
import { unreachable } from "../kit/never.ts";
import { sentenceOf } from "./log-lines.ts";
import { attemptWords, figure, oneLine } from "./wording.ts";

const lineCharsMax = 120;

/** A glimpse as a line; null where there is nothing to see. */
export function glimpse(signal: Signal): string | null {
  switch (signal.signal) {
    case "said":
    case "thought": {
      const text = oneLine(signal.text, lineCharsMax);
      if (text === "") return null;
      return signal.signal === "said" ? `  “${text}”` : `  … ${text}`;
    }
    case "tool":
      return `  ${signal.status === "failed" ? "✗" : "·"} ${oneLine(signal.title, lineCharsMax)}${signal.status === "" ? "" : ` (${oneLine(signal.status, 20)})`}`;
    case "checking":
      return `  · checking ${oneLine(signal.title, 60)}: ${oneLine(signal.command, lineCharsMax)}`;
    case "usage":
      return `  · ${figure(signal.tokens)} tokens so far in ${attemptWords(signal.attempt)}`;
    default:
      return unreachable(signal);
  }
}

/** A fact as a line while the run works; null for the book-keeping that only `autopilot log` shows. */
export function milestone(event: Event): string | null {
  if (quiet.has(event.event)) return null;
  return `${marks[event.event] ?? "·"} ${sentenceOf(event)}`;
}

const quiet: ReadonlySet<EventName> = new Set([
  "run_drafted",
  "preview_acknowledged",
  "artifacts_surveyed",
  "session_opened",
  "step_skipped",
  "route_taken",
  "tasks_read",
]);

const marks: { readonly [N in EventName]?: string } = {
  run_completed: "✓",
  phase_completed: "✓",
  step_completed: "✓",
  task_completed: "✓",
  wave_completed: "✓",
  closing_completed: "✓",
  changes_applied: "✓",
  circuit_breaker_closed: "✓",
  phase_failed: "✗",
  step_failed: "✗",
  task_failed: "✗",
  wave_failed: "✗",
  closing_failed: "✗",
  run_stopped: "✗",
  run_paused: "!",
  step_interrupted: "!",
  attempt_settled: "!",
  return_asked_again: "!",
  journal_repaired: "!",
  policy_changed: "!",
  circuit_breaker_opened: "!",
  block_opened: "!",
};
