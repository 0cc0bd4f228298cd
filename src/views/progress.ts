// progress: renders the journal entries that are worth showing while a run works, as lines for a
// person. Live events are in log-lines.ts.

import type { Entry, Event, EventName, EventOf } from "../contracts/event.ts";
import { type CheckResult, couldNotRun } from "../contracts/evidence.ts";
import { isReasonCode, reasons } from "../contracts/reason.ts";
import { ownValue } from "../core/own-values.ts";
import { cursorSteps } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";
import { completionCodes } from "../core/verdict.ts";
import { parseIsoTime } from "../kit/iso-time.ts";
import { isReportedByPhases } from "./criteria-status.ts";
import { areAllIdle, describeRunEvent } from "./log-lines.ts";
import { listPhaseRows } from "./phase-rows.ts";
import {
  formatAmount,
  describeAttempt,
  formatNumber,
  firstFew,
  isOutsideScope,
  formatMoney,
  oneLine,
  plural,
  formatCompactNumber,
  describeSandbox,
  formatCompactDuration,
} from "./wording.ts";

/** An event with the time of its journal line. */
type Timed = { readonly ts: string };

/**
 * Returns a function that turns each journal entry into lines: a row for every turn and every time
 * checks ran, a sentence for most other events. It remembers what a turn used until its changes are
 * applied, because both are in one row.
 */
export function openMilestones(): (entry: Entry, run: RunView) => readonly string[] {
  const milestones = new Milestones();
  return (entry, run) => milestones.linesOf(entry, run);
}

class Milestones {
  readonly #startedSteps = new Map<string, { readonly kind: string; readonly at: string }>();
  readonly #turns = new Map<string, EventOf<"turn_ended">>();
  #hasFailingChecks = false;

  linesOf(entry: Entry, run: RunView): readonly string[] {
    switch (entry.event) {
      case "run_opened":
        return [entry.opening === 1 ? openedLine(entry, run) : eventRow(entry)];
      case "step_started":
        this.#startedSteps.set(entry.attempt, { kind: entry.kind, at: entry.ts });
        return entry.kind === "flow" ? [eventRow(entry)] : [];
      case "turn_ended":
        this.#turns.set(entry.attempt, entry);
        return [];
      case "changes_applied":
        return [this.#turnRow("✓", entry.attempt, firstFew(entry.paths, 3), run)];
      case "step_interrupted":
        if (entry.by !== "scope" || !isTurn(run, entry.attempt)) return [eventRow(entry)];
        return [
          this.#turnRow("✗", entry.attempt, discardedText(entry), run),
          `  → autopilot diff --turn ${turnNumber(run, entry.attempt)}`,
        ];
      case "block_opened":
        return entry.hold ? [] : [eventRow(entry)]; // the run pauses for it now, and the question is shown with its answers
      case "phase_started":
      case "phase_completed":
        return needsNoPhaseRow(run, entry.walk) ? [] : [eventRow(entry)];
      case "oracles_judged":
        return entry.changes.length === 0 ? [] : [`! ${describeRunEvent(entry)}`];
      case "step_completed":
        return this.#completedLines(entry, run);
      case "step_failed":
        return this.#failedLines(entry, run);
      default:
        return silentEvents.has(entry.event) ? [] : [eventRow(entry)];
    }
  }

  #turnRow(mark: string, attempt: string, text: string, run: RunView): string {
    const turn = this.#turns.get(attempt);
    const facts =
      turn === undefined
        ? []
        : [
            formatCompactDuration(turn.usage.minutes * 60_000),
            `${formatCompactNumber(turn.usage.tokens)} tokens`,
            ...priceText(turn),
            ...confidenceText(turn),
          ];

    return row(mark, formatTurnLabel(run, attempt), [
      `${formatStepPrefix(run, attempt)}${text}`,
      facts.join(", "),
    ]);
  }

  /** A turn without changes is fine if its step keeps none of them; otherwise it is marked. */
  #unchangedRow(attempt: string, run: RunView): string {
    const cursor = ownValue(run.cursors, attempt.replace(/@\d+\/[^/]+#\d+$/, "")); // `1@1/execute#2` → `1`
    const step = run.turns.find((turn) => turn.attempt === attempt)?.step;
    const isReader =
      cursor !== undefined &&
      cursorSteps(run, cursor).find(({ id }) => id === step)?.keeps !== undefined;

    return isReader
      ? this.#turnRow("✓", attempt, "read only", run)
      : this.#turnRow("!", attempt, "changed nothing", run);
  }

  #checksRow(
    mark: string,
    entry: EventOf<"step_completed" | "step_failed"> & Timed,
    suffix = "",
  ): string {
    return row(mark, isProof(entry.attempt) ? "Checks" : "Baseline", [
      `${checksText(entry.checks ?? [])}${suffix}`,
      formatCompactDuration(this.#tookMs(entry.attempt, entry.ts)),
    ]);
  }

  #completedLines(entry: EventOf<"step_completed"> & Timed, run: RunView): readonly string[] {
    if (entry.asks !== undefined) return []; // its question is the next line
    if (isTurn(run, entry.attempt)) {
      return entry.facts["changed"] === false ? [this.#unchangedRow(entry.attempt, run)] : [];
    }

    if ((entry.checks ?? []).length > 0) {
      this.#hasFailingChecks = false;
      const isWeak =
        areAllIdle(entry.checks) || (isProof(entry.attempt) && hasFailingCheck(entry.checks));
      return [this.#checksRow(isWeak ? "!" : "✓", entry)];
    }

    if (this.#startedSteps.get(entry.attempt)?.kind !== "run") return [eventRow(entry)];
    // A failing check has just said why the work isn't done, and the last line of the run says
    // where the work is.
    const sentence =
      this.#hasFailingChecks || entry.facts["landed"] === true ? null : stepSentence(entry);
    return sentence === null ? [] : [sentence];
  }

  #failedLines(entry: EventOf<"step_failed"> & Timed, run: RunView): readonly string[] {
    if ((entry.checks ?? []).length > 0) {
      this.#hasFailingChecks = true;
      return [this.#checksRow("✗", entry, hasFailingCheck(entry.checks) ? "" : refusalText(entry))];
    }

    if (isTurn(run, entry.attempt)) {
      return [this.#turnRow("✗", entry.attempt, failureText(entry), run)];
    }

    return [warningSentence(entry) ?? eventRow(entry)];
  }

  #tookMs(attempt: string, until: string): number {
    return Math.max(
      0,
      (parseIsoTime(until) ?? 0) -
        (parseIsoTime(this.#startedSteps.get(attempt)?.at ?? until) ?? 0),
    );
  }
}

/**
 * Checks before the phases (`before.baseline@1/…`) only measure where the run begins; all others
 * prove work.
 */
const isProof = (attempt: string): boolean => !attempt.startsWith("before.");
const hasFailingCheck = (checks: readonly CheckResult[] | undefined): boolean =>
  (checks ?? []).some((result) => result.status !== "passed" && !couldNotRun(result));

/** Why a step failed although no check did: a test was weakened, for example. */
const refusalText = ({ reason_code }: EventOf<"step_failed">): string =>
  isReasonCode(reason_code)
    ? `, but: ${oneLine(reasons[reason_code].meaning).replace(/\.$/, "")}`
    : "";

/**
 * The first line of a run: its id, its agents, its sandbox, and its limits of tokens and minutes.
 */
function openedLine({ isolation }: EventOf<"run_opened">, { drafted, limits }: RunView): string {
  const agents = new Set(Object.values(drafted.cast).map(({ agent }) => agent));
  const { tokens, minutes } = limits.run;
  const parts = [
    `${drafted.run_id}: ${firstFew([...agents], 3)}`,
    `sandbox ${describeSandbox(isolation)}`,
  ];
  if (tokens !== undefined) parts.push(`${formatCompactNumber(tokens)} tokens`);
  if (minutes !== undefined) parts.push(formatAmount("minutes", minutes));

  return `· ${parts.join(", ")}`;
}

export const labelWidth = 9;
const row = (mark: string, label: string, parts: readonly string[]): string =>
  `${mark} ${label.padEnd(labelWidth)} ${parts.filter((part) => part !== "").join("   ")}`;
const priceText = ({ usage: { usd } }: EventOf<"turn_ended">): readonly string[] =>
  usd === undefined ? [] : [formatMoney(usd)];
const confidenceText = ({ promised, confidence }: EventOf<"turn_ended">): readonly string[] => [
  ...(promised ? ["says it's done"] : []),
  ...(confidence === null ? [] : [`confidence ${formatNumber(confidence)}`]),
];

const discardedText = ({ paths = [], detail = "" }: EventOf<"step_interrupted">): string =>
  isOutsideScope(detail)
    ? `discarded: ${firstFew(paths, 3)} outside the scope`
    : `discarded: ${oneLine(detail)}`;

const failureText = ({ reason_code, detail = "" }: EventOf<"step_failed">): string =>
  oneLine(
    detail === "" && isReasonCode(reason_code) ? reasons[reason_code].meaning : detail,
  ).replace(/\.$/, "");

/** Whether a message is the text of an open question, which is shown by itself. */
export const isOpenQuestion = (run: RunView, message: string | null | undefined): boolean =>
  Object.values(run.blocks).some(({ question }) => question === message);

/**
 * Whether a phase needs no row: the run isn't reported by phases, or this one is before or after
 * them (`before.survey`).
 */
const needsNoPhaseRow = (run: RunView, path: string): boolean =>
  !isReportedByPhases(run) || /^(before|after)\./.test(path);

const isTurn = (run: RunView, attempt: string): boolean =>
  run.turns.some((turn) => turn.attempt === attempt);

const turnNumber = (run: RunView, attempt: string): number =>
  run.turns.findIndex((turn) => turn.attempt === attempt) + 1;

export function formatTurnLabel(run: RunView, attempt: string): string {
  const number = turnNumber(run, attempt);
  return number === 0 ? "Turn" : `Turn ${number}`;
}

/**
 * The step of a turn, `plan: ` for example; empty if it is the step of the first turn. In a run
 * with phases, always the whole attempt.
 */
export function formatStepPrefix(run: RunView, attempt: string): string {
  const turn = run.turns.find((candidate) => candidate.attempt === attempt);
  if (turn === undefined) return "";
  if (isReportedByPhases(run)) return `${describeAttempt(attempt)}: `;

  return turn.step === run.turns[0]?.step ? "" : `${turn.step}: `;
}

const resultMarks: Readonly<Record<string, string>> = { PASS: "✓", WARN: "!" };

/** A step of the runner's own, reported by the meaning of its reason code. */
function stepSentence(event: EventOf<"step_completed">): string | null {
  if (
    event.reason_code === "ok" ||
    !isReasonCode(event.reason_code) ||
    verdictCodes.has(event.reason_code)
  ) {
    return null;
  }

  const { result, meaning } = reasons[event.reason_code];
  const detail =
    event.detail === undefined || event.detail === "" ? "" : ` ${oneLine(event.detail)}.`;
  return `${resultMarks[result] ?? "✗"} ${meaning}${detail}`;
}

const eventRow = (event: Event): string =>
  `${eventMarks[event.event] ?? "·"} ${describeRunEvent(event)}`;

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
  const idleCommands = idle.map(({ check }) => oneLine(check.command, 60));

  return [
    `${formatNumber(passing)} of ${formatNumber(checks.length)} pass`,
    ...(red.length === 0 ? [] : [`failing: ${firstFew(red.map(failedCheckText), 3)}`]),
    ...(idle.length === 0 ? [] : [`can't run here: ${firstFew(idleCommands, 3)}`]),
  ].join("; ");
}

function failedCheckText({ check, status, exit_code, why }: CheckResult): string {
  const failure =
    status === "failed" ? (why ?? `exit ${exit_code ?? "unknown"}`) : status.replace("_", " ");
  return `${oneLine(check.title === "" ? check.command : check.title, 60)} (${failure})`;
}

/**
 * The result of a phase, when it has just ended: its score and what it used. Null if there is
 * nothing to add.
 */
export function describePhaseEnding(event: Event, run: RunView): string | null {
  if (event.event !== "phase_completed" && event.event !== "phase_failed") return null;
  const rows = listPhaseRows(run);
  const row = rows.find(({ id }) => id === event.walk);
  if (row === undefined || rows.length < 2) return null;
  const overCount = rows.filter(
    ({ status }) => status === "completed" || status === "skipped" || status === "failed",
  ).length;

  const parts = [
    ...(row.score === null ? [] : [`score ${formatNumber(row.score)}`]),
    ...(row.tokens === 0 ? [] : [formatAmount("tokens", row.tokens)]),
    ...(row.duration_minutes === 0 ? [] : [formatAmount("minutes", row.duration_minutes)]),
    ...(row.usd === 0 ? [] : [formatAmount("usd", row.usd)]),
    `${formatNumber(overCount)} of ${plural(rows.length, "phase")} over`,
  ];

  return `  ${parts.join(", ")}`;
}

const silentEvents: ReadonlySet<EventName> = new Set([
  "run_drafted",
  "preview_acknowledged",
  "artifacts_surveyed",
  "session_opened",
  "step_skipped",
  "route_taken",
  "claims_checked",
  // The line that follows says the same: the command's last line, or the question.
  "circuit_breaker_opened",
  "run_paused",
  "run_completed",
]);

const eventMarks: { readonly [N in EventName]?: string } = {
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
