// breaker-view: shows the circuit breaker: its state, counters, cooldown and the last error.

import { isReasonCode, reasons } from "../contracts/reason.ts";
import { breakerLimits } from "../core/breaker.ts";
import type { RunView } from "../core/state.ts";
import { formatNumber, oneLine } from "./wording.ts";

export type BreakerView = {
  readonly state: RunView["breaker"]["state"];
  readonly consecutive_no_progress: number;
  readonly no_progress_threshold: number;
  readonly consecutive_same_error: number;
  readonly same_error_threshold: number;
  readonly cooldown_until: string | null;
  readonly because: string | null;
};

export function buildBreakerView(run: RunView): BreakerView {
  const { state, no_progress, same, cooldown_until, because } = run.breaker;
  const { noProgressMax, sameErrorMax } = breakerLimits(run.limits.run);
  return {
    state,
    consecutive_no_progress: no_progress,
    no_progress_threshold: noProgressMax,
    consecutive_same_error: same,
    same_error_threshold: sameErrorMax,
    cooldown_until,
    because,
  };
}

/** The failure that the breaker counts, as a sentence; null if the newest attempt did not fail. */
export function findLastError({ breaker: { cause, last_error } }: RunView): string | null {
  if (cause === undefined) return last_error;
  const meaning = isReasonCode(cause.reason)
    ? reasons[cause.reason].meaning
    : `It failed with ${cause.reason}.`;

  const detail = oneLine(cause.detail, errorCharsMax).replace(/[.\s]+$/, "");
  return detail === "" ? meaning : `${meaning.replace(/\.$/, "")}: ${detail}.`;
}

const errorCharsMax = 500;

/**
 * `closed`; `closed, 1 of 3 turns without progress`; `half open: one attempt decides`; `open until
 * … (no progress)`.
 */
export function describeBreaker(breaker: BreakerView): string {
  const { state, cooldown_until, because } = breaker;
  if (state === "open") {
    return `open until ${cooldown_until ?? "it is reset"}${because === null ? "" : ` (${because.replaceAll("_", " ")})`}`;
  }

  const counters = [
    breaker.consecutive_no_progress > 0
      ? `${formatNumber(breaker.consecutive_no_progress)} of ${formatNumber(breaker.no_progress_threshold)} turns without progress`
      : "",
    breaker.consecutive_same_error > 0
      ? `the same error ${formatNumber(breaker.consecutive_same_error)} of ${formatNumber(breaker.same_error_threshold)} times`
      : "",
  ].filter((part) => part !== "");
  return [state === "half_open" ? "half open: one attempt decides" : "closed", ...counters].join(
    ", ",
  );
}
