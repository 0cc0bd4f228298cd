// resume-commands: lists the commands that get a paused run past its pause. The raise of a limit is
// computed from what is short; a resume that could only pause again is not offered.

import type { Dimension } from "../contracts/budget.ts";
import { isReasonCode, reasons } from "../contracts/reason.ts";
import { ownValue } from "../core/own-values.ts";
import { wouldPauseAgain } from "../core/resume-outlook.ts";
import type { RunView, ShortLimit } from "../core/state.ts";
import { isOutsideScope } from "./wording.ts";

/** Best first. Empty if only an answer to an open question helps. */
export function listResumeCommands(run: RunView): readonly string[] {
  const raise = describeRaise(run);
  if (raise !== null) return [`autopilot budget raise ${raise} && ${composeResumeCommand(run)}`];
  const hints = run.short === undefined ? listHints(run) : []; // otherwise what was short has been raised, and no hint is needed
  if (wouldPauseAgain(run)) return hints.filter((hint) => !hint.includes("autopilot resume"));
  if (isCoolingDown(run)) {
    return [
      "autopilot report",
      "autopilot resume --now",
      `after ${formatClockTime(run.breaker.cooldown_until ?? "")}: autopilot resume`,
    ];
  }

  return hints.some((hint) => hint.includes("autopilot resume"))
    ? hints
    : [...hints, "autopilot resume"];
}

/**
 * The limits that must be raised for this run to go on, as `budget raise` takes them; null if there
 * are none.
 */
function describeRaise(run: RunView): string | null {
  const short = (run.short ?? []).filter(
    ({ scope, dimension, to }) => (ownValue(run.limits[scope], dimension) ?? 0) < to,
  );
  if (short.length > 0) return formatRaise(short);
  return run.reason === "retry_limit_reached" &&
    run.retries >= (ownValue(run.limits.run, "retries") ?? Infinity)
    ? `retries=+${run.retries - (ownValue(run.limits.run, "retries") ?? 0) + extraRetries}`
    : null;
}

/** Limits that are short, as `budget raise` takes them. */
export const formatRaise = (short: readonly ShortLimit[]): string =>
  short
    .map(
      (limit) =>
        `${limit.scope === "phase" ? "phase." : ""}${limit.dimension}=+${formatShortAmount(limit)}`,
    )
    .join(",");

/** How many retries a raise adds beyond those used already. */
const extraRetries = 5;

/** A raise is a multiple of these. */
const roundingSteps: Readonly<Record<Dimension, number>> = {
  tokens: 1_000,
  minutes: 1,
  calls: 1,
  usd: 0.01,
};

/** The difference, rounded up to what a person would type. */
function formatShortAmount({ dimension, limit, to }: ShortLimit): string {
  const step = roundingSteps[dimension];
  const count = Math.max(1, Math.ceil((to - limit) / step));
  if (dimension === "tokens") return `${count}k`;

  // A cent more, because cents don't add up exactly.
  return dimension === "usd" ? ((count + 1) * step).toFixed(2) : String(count);
}

/** `18:35 UTC`: a cooldown is minutes long. */
const formatClockTime = (at: string): string =>
  at.replace(/^\d{4}-\d\d-\d\dT(\d\d:\d\d).*$/, "$1 UTC");

const isCoolingDown = ({ breaker }: RunView): boolean =>
  breaker.state === "open" && breaker.cooldown_until !== null;

/**
 * A breaker that opened for a phase's limit closes when that limit is raised. Any other has to cool
 * down first, unless `--now` skips that.
 */
function composeResumeCommand(run: RunView): string {
  const isRaised =
    run.breaker.because === "phase_cap" && (run.short ?? []).some(({ scope }) => scope === "phase");
  return isCoolingDown(run) && !isRaised ? "autopilot resume --now" : "autopilot resume";
}

/** The reason's own hint; one that only says `autopilot resume` adds nothing. */
function listHints({ reason, blocks, detail }: RunView): readonly string[] {
  if (reason === null || !isReasonCode(reason)) return [];
  if (
    (reason === "human_block_open" || reason === "oracle_changed") &&
    Object.keys(blocks).length > 0
  ) {
    return [];
  }

  if (reasonsEndedByAnswer.has(reason) && Object.keys(blocks).length === 0) return []; // what was asked has its answer
  if (reason === "scope_violation_blocked" && !isOutsideScope(detail ?? "")) {
    return ["autopilot log"];
  } // a wider scope would not help

  const { hint } = reasons[reason];
  return hint === "" || hint === "autopilot resume" ? [] : [hint];
}

const reasonsEndedByAnswer: ReadonlySet<string> = new Set([
  "approval_required",
  "human_block_open",
  "completion_promise_missing",
  "oracle_changed",
]);
