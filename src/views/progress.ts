// progress: what a person sees while an agent works: one short line for what passes by, and for each fact worth a glance.

import type { Entry, Event, EventName, EventOf } from "../contracts/event.ts";
import { type CheckResult, couldNotRun } from "../contracts/evidence.ts";
import { isReasonCode, reasons } from "../contracts/reason.ts";
import type { LiveEvent } from "../contracts/signal.ts";
import { own } from "../core/record.ts";
import { cursorSteps } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";
import { completionCodes } from "../core/verdict.ts";
import { parseIsoTime } from "../kit/iso-time.ts";
import { unreachable } from "../kit/never.ts";
import { isByPhases } from "./criteria-status.ts";
import { areAllIdle, eventSentence } from "./log-lines.ts";
import { phaseRows } from "./phase-rows.ts";
import {
  amount,
  describeAttempt,
  figure,
  firstFew,
  isOutsideScope,
  money,
  oneLine,
  plural,
  rounded,
  describeSandbox,
  span,
} from "./wording.ts";

const lineCharsMax = 120;

/** A glimpse as a line; null if there is nothing to see. */
export function liveLine(signal: LiveEvent): string | null {
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
      return signal.title === signal.command
        ? `  · checking ${oneLine(signal.command, lineCharsMax)}`
        : `  · checking ${oneLine(signal.title, 60)}: ${oneLine(signal.command, lineCharsMax)}`;
    case "check_running": {
      const line = oneLine(signal.line, lineCharsMax);
      return `  · ${oneLine(signal.title, 60)}, ${span(signal.elapsedMs)}${line === "" ? "" : `: ${line}`}`;
    }
    case "usage":
      return `  · ${figure(signal.tokens)} tokens so far in ${describeAttempt(signal.attempt)}`;
    default:
      return unreachable(signal);
  }
}

/**
 * Facts as lines while a run works: a row for every turn and every round of checks, a sentence for what else is worth a glance. Remembers
 * what it needs of a turn until its changes are judged.
 */
export function openMilestones(): (entry: Entry, run: RunView) => readonly string[] {
  const began = new Map<string, { readonly kind: string; readonly at: string }>();
  const turns = new Map<string, EventOf<"turn_ended">>();
  let hasFailed = false;
  const tookMs = (attempt: string, until: string): number =>
    Math.max(0, (parseIsoTime(until) ?? 0) - (parseIsoTime(began.get(attempt)?.at ?? until) ?? 0));

  function turnRow(mark: string, attempt: string, text: string, run: RunView): string {
    const turn = turns.get(attempt);
    const facts =
      turn === undefined
        ? []
        : [span(turn.usage.minutes * 60_000), `${rounded(turn.usage.tokens)} tokens`, ...eventPrice(turn), ...confidenceText(turn)];
    return row(mark, turnLabel(run, attempt), [`${runStep(run, attempt)}${text}`, facts.join(", ")]);
  }
  /** A step that keeps nothing of what its agent changes isn't expected to change anything. */
  function unchangedRow(attempt: string, run: RunView): string {
    const cursor = own(run.cursors, attempt.replace(/@\d+\/[^/]+#\d+$/, ""));
    const step = run.turns.find((turn) => turn.attempt === attempt)?.step;
    const isReader = cursor !== undefined && cursorSteps(run, cursor).find(({ id }) => id === step)?.keeps !== undefined;
    return isReader ? turnRow("✓", attempt, "read only", run) : turnRow("!", attempt, "changed nothing", run);
  }
  function checksRow(mark: string, entry: EventOf<"step_completed" | "step_failed"> & { readonly ts: string }, more = ""): string {
    const isFirst = !isProof(entry.attempt);
    return row(mark, isFirst ? "Baseline" : "Checks", [`${checksText(entry.checks ?? [])}${more}`, span(tookMs(entry.attempt, entry.ts))]);
  }

  return (entry, run) => {
    switch (entry.event) {
      case "run_opened":
        return [entry.opening === 1 ? openedLine(entry, run) : plain(entry)];
      case "step_started":
        began.set(entry.attempt, { kind: entry.kind, at: entry.ts });
        return entry.kind === "flow" ? [plain(entry)] : [];
      case "turn_ended":
        turns.set(entry.attempt, entry);
        return [];
      case "changes_applied":
        return [turnRow("✓", entry.attempt, firstFew(entry.paths, 3), run)];
      case "step_interrupted":
        if (entry.by !== "scope" || !isTurn(run, entry.attempt)) return [plain(entry)];
        return [turnRow("✗", entry.attempt, discardedWords(entry), run), `  → autopilot diff --turn ${turnNumber(run, entry.attempt)}`];
      case "block_opened":
        return entry.hold ? [] : [plain(entry)]; // the run pauses for it now, and the question is shown with its answers
      case "phase_started":
      case "phase_completed":
        return isWhole(run, entry.walk) ? [] : [plain(entry)];
      case "oracles_judged":
        return entry.changes.length === 0 ? [] : [`! ${eventSentence(entry)}`];
      case "step_completed": {
        const kind = began.get(entry.attempt)?.kind;
        if (entry.asks !== undefined) return []; // its question is the next line
        if (isTurn(run, entry.attempt)) return entry.facts["changed"] === false ? [unchangedRow(entry.attempt, run)] : [];
        if ((entry.checks ?? []).length > 0) {
          hasFailed = false;
          return [checksRow(areAllIdle(entry.checks) || (isProof(entry.attempt) && hasRed(entry.checks)) ? "!" : "✓", entry)];
        }
        if (kind !== "run") return [plain(entry)];
        const sentence = hasFailed || entry.facts["landed"] === true ? null : stepSentence(entry); // a red check has just said why it is not done, and the end says where the work is
        return sentence === null ? [] : [sentence];
      }
      case "step_failed":
        if ((entry.checks ?? []).length > 0) {
          hasFailed = true;
          return [checksRow("✗", entry, hasRed(entry.checks) ? "" : whyRefused(entry))];
        }
        if (isTurn(run, entry.attempt)) return [turnRow("✗", entry.attempt, failedWords(entry), run)];
        return [warningSentence(entry) ?? plain(entry)];
      default:
        return quiet.has(entry.event) ? [] : [plain(entry)];
    }
  };
}

const isProof = (attempt: string): boolean => !attempt.startsWith("before.");
const hasRed = (checks: readonly CheckResult[] | undefined): boolean =>
  (checks ?? []).some((result) => result.status !== "passed" && !couldNotRun(result));

/** Checks may pass and prove nothing: a test was weakened, say. */
const whyRefused = ({ reason_code }: EventOf<"step_failed">): string =>
  isReasonCode(reason_code) ? `, but: ${oneLine(reasons[reason_code].meaning).replace(/\.$/, "")}` : "";

/** Who works, in what, and how much of everything there is. */
function openedLine({ isolation }: EventOf<"run_opened">, { drafted, limits }: RunView): string {
  const agents = new Set(Object.values(drafted.cast).map(({ agent }) => agent));
  const { tokens, minutes } = limits.run;
  return `· ${[`${drafted.run_id}: ${firstFew([...agents], 3)}`, `sandbox ${describeSandbox(isolation)}`, ...(tokens === undefined ? [] : [`${rounded(tokens)} tokens`]), ...(minutes === undefined ? [] : [amount("minutes", minutes)])].join(", ")}`;
}

export const labelWidth = 9;
const row = (mark: string, label: string, parts: readonly string[]): string =>
  `${mark} ${label.padEnd(labelWidth)} ${parts.filter((part) => part !== "").join("   ")}`;
const eventPrice = ({ usage: { usd } }: EventOf<"turn_ended">): readonly string[] => (usd === undefined ? [] : [money(usd)]);
const confidenceText = ({ promised, confidence }: EventOf<"turn_ended">): readonly string[] => [
  ...(promised ? ["says it's done"] : []),
  ...(confidence === null ? [] : [`confidence ${figure(confidence)}`]),
];

const discardedWords = ({ paths = [], detail = "" }: EventOf<"step_interrupted">): string =>
  isOutsideScope(detail) ? `discarded: ${firstFew(paths, 3)} outside the scope` : `discarded: ${oneLine(detail)}`;

const failedWords = ({ reason_code, detail = "" }: EventOf<"step_failed">): string =>
  oneLine(detail === "" && isReasonCode(reason_code) ? reasons[reason_code].meaning : detail).replace(/\.$/, "");

/** Whether these words are an open question's, which is shown by itself. */
export const isQuestion = (run: RunView, message: string | null | undefined): boolean =>
  Object.values(run.blocks).some(({ question }) => question === message);

/** Whether a phase needs no row of its own: the only one there is, or one around them. */
const isWhole = (run: RunView, path: string): boolean => !isByPhases(run) || /^(before|after)\./.test(path);

const isTurn = (run: RunView, attempt: string): boolean => run.turns.some((turn) => turn.attempt === attempt);

const turnNumber = (run: RunView, attempt: string): number => run.turns.findIndex((turn) => turn.attempt === attempt) + 1;

export function turnLabel(run: RunView, attempt: string): string {
  const number = turnNumber(run, attempt);
  return number === 0 ? "Turn" : `Turn ${number}`;
}

/** Which step a turn belongs to, if that is not plain. */
export function runStep(run: RunView, attempt: string): string {
  const turn = run.turns.find((candidate) => candidate.attempt === attempt);
  if (turn === undefined) return "";
  if (isByPhases(run)) return `${describeAttempt(attempt)}: `;
  return turn.step === run.turns[0]?.step ? "" : `${turn.step}: `;
}

const resultMarks: Readonly<Record<string, string>> = { PASS: "✓", WARN: "!" };

/** The runner's own steps are reported by what they found. */
function stepSentence(event: EventOf<"step_completed">): string | null {
  if (event.reason_code === "ok" || !isReasonCode(event.reason_code) || verdictCodes.has(event.reason_code)) return null;
  const { result, meaning } = reasons[event.reason_code];
  const detail = event.detail === undefined || event.detail === "" ? "" : ` ${oneLine(event.detail)}.`;
  return `${resultMarks[result] ?? "✗"} ${meaning}${detail}`;
}

const plain = (event: Event): string => `${marks[event.event] ?? "·"} ${eventSentence(event)}`;

/** The verdict is shown once, when the run ends: later steps may still find a gap. */
const verdictCodes: ReadonlySet<string> = new Set(Object.values(completionCodes));

/** A step that left something undone on purpose has not failed: its reason is reported. */
function warningSentence({ reason_code, detail = "" }: EventOf<"step_failed">): string | null {
  if (!isReasonCode(reason_code) || reasons[reason_code].result !== "WARN") return null;
  return `! ${reasons[reason_code].meaning}${detail === "" ? "" : ` ${oneLine(detail)}`}`;
}

/** `1 of 2 pass; failing: npm test (exit 1); can't run here: npm run lint`. */
function checksText(checks: readonly CheckResult[]): string {
  const passing = checks.filter(({ status }) => status === "passed").length;
  const idle = checks.filter((result) => result.status !== "passed" && couldNotRun(result));
  const red = checks.filter((result) => result.status !== "passed" && !couldNotRun(result));
  const how = ({ check, status, exit_code, why }: CheckResult): string =>
    `${oneLine(check.title === "" ? check.command : check.title, 60)} (${status === "failed" ? (why ?? `exit ${exit_code ?? "unknown"}`) : status.replace("_", " ")})`;
  return [
    `${figure(passing)} of ${figure(checks.length)} pass`,
    ...(red.length === 0 ? [] : [`failing: ${firstFew(red.map(how), 3)}`]),
    ...(idle.length === 0
      ? []
      : [
          `can't run here: ${firstFew(
            idle.map(({ check }) => oneLine(check.command, 60)),
            3,
          )}`,
        ]),
  ].join("; ");
}

/** The result of a phase, when it has just ended: its score and what it used. Null if there is nothing to add. */
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
  // What follows says it: the command's last line, or the question.
  "circuit_breaker_opened",
  "run_paused",
  "run_completed",
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
  run_forked: "!",
  policy_changed: "!",
  agent_switched: "!",
  circuit_breaker_opened: "!",
  block_opened: "!",
};
