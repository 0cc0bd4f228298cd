// progress: what a person sees while an agent works: one short line for what passes by, and for each fact worth a glance.

import type { Event, EventName, EventOf } from "../contracts/event.ts";
import { type CheckResult, couldNotRun } from "../contracts/evidence.ts";
import { isReasonCode, reasons } from "../contracts/reason.ts";
import type { Signal } from "../contracts/signal.ts";
import type { RunView } from "../core/state.ts";
import { completionCodes } from "../core/verdict.ts";
import { unreachable } from "../kit/never.ts";
import { areAllIdle, sentenceOf } from "./log-lines.ts";
import { phaseRows } from "./phase-rows.ts";
import { verdictMark } from "./verdict-words.ts";
import { amount, attemptWords, figure, oneLine, plural } from "./wording.ts";

const lineCharsMax = 120;

/** A glimpse as a line; null where there is nothing to see. */
export function liveLine(signal: Signal): string | null {
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
    case "check_running": {
      const line = oneLine(signal.line, lineCharsMax);
      return `  · ${oneLine(signal.title, 60)}, ${elapsedWords(signal.elapsedMs)}${line === "" ? "" : `: ${line}`}`;
    }
    case "usage":
      return `  · ${figure(signal.tokens)} tokens so far in ${attemptWords(signal.attempt)}`;
    default:
      return unreachable(signal);
  }
}

function elapsedWords(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A fact as a line while the run works; null for the book-keeping that only `autopilot log` shows. `kindOf` knows what an attempt is. */
export function milestone(event: Event, kindOf: (attempt: string) => string | null = () => null): string | null {
  if (quiet.has(event.event)) return null;
  switch (event.event) {
    case "step_started":
      return event.kind === "run" || event.kind === "check" ? null : plain(event);
    case "oracles_judged":
      return event.changes.length === 0 ? null : `! ${sentenceOf(event)}`;
    case "step_completed":
      return completed(event, kindOf(event.attempt));
    case "step_failed":
      return keptBack(event) ?? plain(event);
    case "run_completed":
      return `${verdictMark(event.verdict)} ${sentenceOf(event)}`;
    default:
      return plain(event);
  }
}

const plain = (event: Event): string => `${marks[event.event] ?? "·"} ${sentenceOf(event)}`;

/** The runner's own steps are told by what they found; an agent's by what it left behind. */
function completed(event: EventOf<"step_completed">, kind: string | null): string | null {
  if (kind === "agent") return event.facts["changed"] === false ? "· It changed nothing." : null;
  if (kind !== "run") return areAllIdle(event.checks) ? `! ${sentenceOf(event)}` : plain(event);
  if ((event.checks ?? []).length > 0) return `· ${measured(event.checks ?? [])}`;
  if (event.reason_code === "ok" || !isReasonCode(event.reason_code) || verdictCodes.has(event.reason_code)) return null;
  const { result, meaning } = reasons[event.reason_code];
  const detail = event.detail === undefined || event.detail === "" ? "" : ` ${oneLine(event.detail)}.`;
  return `${result === "PASS" ? "✓" : result === "WARN" ? "!" : "✗"} ${meaning}${detail}`;
}

/** What the work is worth is said once, when the run ends: later steps may still find a gap. */
const verdictCodes: ReadonlySet<string> = new Set(Object.values(completionCodes));

/** A step that left something undone on purpose has not failed: it is told by its reason. */
function keptBack({ reason_code, detail = "" }: EventOf<"step_failed">): string | null {
  if (!isReasonCode(reason_code) || reasons[reason_code].result !== "WARN") return null;
  return `! ${reasons[reason_code].meaning}${detail === "" ? "" : ` ${oneLine(detail)}`}`;
}

/** What checks say of the tree as it is, before anybody has worked on it. */
function measured(checks: readonly CheckResult[]): string {
  const named = (isMeant: (result: CheckResult) => boolean): string =>
    checks
      .filter((result) => result.status !== "passed" && isMeant(result))
      .map(({ check }) => oneLine(check.command, 60))
      .join(", ");
  const passing = checks.filter(({ status }) => status === "passed").length;
  if (passing === checks.length) return `Measured: ${plural(checks.length, "check")} ${checks.length === 1 ? "passes" : "pass"}.`;
  const parts = [
    ["failing now", named((result) => !couldNotRun(result))],
    ["can't run here", named(couldNotRun)],
  ].flatMap(([title, names]) => (names === "" ? [] : [`; ${title}: ${names}`]));
  return `Measured: ${figure(passing)} of ${plural(checks.length, "check")} ${passing === 1 || checks.length === 1 ? "passes" : "pass"}${parts.join("")}.`;
}

/** What a phase came to, when it has just ended: its score and what it used. Null where there is nothing to add. */
export function phaseEnding(event: Event, run: RunView): string | null {
  if (event.event !== "phase_completed" && event.event !== "phase_failed") return null;
  const rows = phaseRows(run);
  const row = rows.find(({ id }) => id === event.walk);
  if (row === undefined || rows.length < 2) return null;
  const over = rows.filter(({ status }) => status === "completed" || status === "skipped" || status === "failed").length;
  const parts = [
    ...(row.score === null ? [] : [`score ${figure(row.score)}`]),
    ...(row.tokens === 0 ? [] : [amount("tokens", row.tokens)]),
    ...(row.duration_minutes === 0 ? [] : [amount("minutes", row.duration_minutes)]),
    ...(row.usd === 0 ? [] : [amount("usd", row.usd)]),
    `${figure(over)} of ${plural(rows.length, "phase")} over`,
  ];
  return `  ${parts.join(", ")}`;
}

const quiet: ReadonlySet<EventName> = new Set([
  "run_drafted",
  "preview_acknowledged",
  "artifacts_surveyed",
  "session_opened",
  "step_skipped",
  "route_taken",
  "claims_checked",
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
  run_adopted: "!",
  policy_changed: "!",
  circuit_breaker_opened: "!",
  block_opened: "!",
};
