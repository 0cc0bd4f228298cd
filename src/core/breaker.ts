// breaker: the circuit breaker that stops a run that repeats itself. It counts agent attempts, and
// failed checks that send work back, in the order of the journal.
//
// Invariants:
//   K1. It opens after N attempts in a row without progress, or with the same error; a phase's cap
//       opens it too (react-to-limit.ts). A limit on retries is separate (budget.ts).
//   K2. Half open means one attempt (decide-cursor.ts): it closes the breaker, or opens it with a
//       doubled cooldown.
//   K3. Equal errors are consecutive until another error comes or the step that failed passes;
//       commits and other steps' passes in between change nothing.
//   K4. The same error opens the breaker when something would be tried again (decide.ts). Giving a
//       phase up is not trying again.

import type { CheckResult } from "../contracts/evidence.ts";
import { thresholdDefaults } from "../contracts/tunable-limits.ts";
import { parseIsoTime, plusMinutes } from "../kit/iso-time.ts";
import { ownValue } from "./own-values.ts";
import type { Breaker, RunStateView, RunView } from "./state.ts";

const breakerDefaults = {
  noProgressMax: thresholdDefaults.no_progress_threshold,
  sameErrorMax: thresholdDefaults.same_error_threshold,
  cooldownMinutes: thresholdDefaults.cooldown_minutes,
} as const;
/** Doubling ends here, unless the configured cooldown is longer. */
const doubledMinutesMax = 60;
/** A week, which no configured cooldown exceeds. */
const cooldownMinutesMax = 10_080;

/**
 * The breaker's limits: those of a run, under either of their names, else the defaults. It opens
 * after one attempt at the earliest.
 */
export function breakerLimits(limits: Readonly<Record<string, number>>): {
  readonly noProgressMax: number;
  readonly sameErrorMax: number;
  readonly cooldownMinutes: number;
} {
  // A plain lookup, not `ownValue`: no inherited property has these names, and this runs before
  // every decision.
  return {
    noProgressMax: Math.max(
      1,
      limits["no_progress_max"] ?? limits["no_progress_threshold"] ?? breakerDefaults.noProgressMax,
    ),
    sameErrorMax: Math.max(
      1,
      limits["same_error_max"] ?? limits["same_error_threshold"] ?? breakerDefaults.sameErrorMax,
    ),
    cooldownMinutes: Math.min(
      cooldownMinutesMax,
      limits["cooldown_minutes"] ?? breakerDefaults.cooldownMinutes,
    ),
  };
}

export type AttemptResult = {
  readonly step: string;
  readonly kind: "passed" | "failed";
  /** The error as `errorFingerprint` reduces it; null without one. */
  readonly fingerprint: string | null;
  /** Undefined if it counts neither way: a step that only reports and passed without a change. */
  readonly progress: boolean | undefined;
  readonly cause?: Breaker["cause"];
};

/**
 * Counts how an attempt of an agent ended. An open breaker counts nothing: an attempt that ends
 * then began before it opened.
 */
export function countOutcome(breaker: Breaker, { progress, ...error }: AttemptResult): void {
  if (breaker.state === "open") return;
  if (progress === true) breaker.no_progress = 0;
  if (progress === false) breaker.no_progress++;
  countError(breaker, error);
  const { kind } = error;

  if (breaker.state === "half_open") {
    breaker.probed = kind === "passed" && progress !== false ? "passed" : "failed";
  } // K2
}

/**
 * Counts how a check or an attempt ended, by its error alone. An error is over when the step that
 * failed passes. K3
 */
export function countError(
  breaker: Breaker,
  { step, kind, fingerprint, cause }: Omit<AttemptResult, "progress">,
): void {
  if (breaker.state === "open") return;
  if (kind === "failed") {
    breaker.same = fingerprint === breaker.last_error ? breaker.same + 1 : 1;
    breaker.last_error = fingerprint;
    breaker.failed_step = step;
    if (cause === undefined) delete breaker.cause;
    else breaker.cause = cause;
  } else if (breaker.failed_step === undefined || breaker.failed_step === step) {
    forgetError(breaker);
  }
}

function forgetError(breaker: Breaker): void {
  breaker.same = 0;
  breaker.last_error = null;
  delete breaker.failed_step;
  delete breaker.cause;
}

/**
 * A phase was given up: its equal errors count as one, so that only the same error in another phase
 * adds to it. K4
 */
export function forgiveRepeatedErrors(breaker: Breaker): void {
  breaker.same = Math.min(breaker.same, 1);
}

/** Begins a probe, with clean counters. */
export function beginProbe(breaker: Breaker): void {
  Object.assign(breaker, { no_progress: 0, probed: null });
  forgetError(breaker);
}

/** Why it opened, with the failure itself: the word "breaker" alone explains nothing. */
export function whyBreakerOpen({ breaker }: RunView): string {
  const { because, same, no_progress, cause, last_error } = breaker;
  const failure = (cause === undefined ? "" : cause.detail || cause.reason).replace(/\.$/, "");

  const messages = {
    same_error: `the same failure ${same} times in a row: ${failure || (last_error ?? "unknown")}`, // another tool's run records no cause
    no_progress: `${no_progress} attempts in a row changed nothing that counts${failure === "" ? "" : `; the last failed: ${failure}`}`,
    probe_failed:
      failure === ""
        ? "the attempt after the cooldown made no progress"
        : `the attempt after the cooldown failed: ${failure}`,
  };
  return because !== null && Object.hasOwn(messages, because)
    ? messages[because as keyof typeof messages]
    : (because ?? "open");
}

/** The reason to open at once, or null. K1, K2 */
export function findTripReason(run: RunView): "no_progress" | "probe_failed" | null {
  const { state, probed, no_progress } = run.breaker;
  if (state === "open") return null;
  if (state === "half_open") return probed === "failed" ? "probe_failed" : null;

  return no_progress >= breakerLimits(run.limits.run).noProgressMax ? "no_progress" : null;
}

/** Whether the same error came too often to try again. K1, K4 */
export const isErrorRepeatedTooOften = (run: RunView): boolean =>
  run.breaker.state === "closed" && run.breaker.same >= breakerLimits(run.limits.run).sameErrorMax;

/**
 * When it may be tried again: the cooldown doubles each time it opens without having closed, up to
 * a limit. K2
 */
export function cooldownUntil(run: RunView): string {
  const { cooldownMinutes } = breakerLimits(run.limits.run);
  const minutesMax = Math.max(doubledMinutesMax, cooldownMinutes);
  return plusMinutes(
    run.updatedAt,
    Math.min(minutesMax, cooldownMinutes * 2 ** run.breaker.opened),
  );
}

/**
 * Why a paused run can't be resumed yet, and when it can; null if it can now. `isForced` is the
 * operator's --now.
 */
export function whyResumeBlocked(
  state: RunStateView,
  nowIso: string,
  isForced: boolean,
): null | { readonly reason: "breaker_open" | "phase_cap_reached"; readonly until: string } {
  if (state.status === "unborn" || state.breaker.state !== "open" || isForced) return null;
  const until = state.breaker.cooldown_until;
  const untilMs = until === null ? null : parseIsoTime(until);
  const nowMs = parseIsoTime(nowIso);
  if (until === null || untilMs === null || nowMs === null || nowMs >= untilMs) return null;

  return {
    reason: state.breaker.because === "phase_cap" ? "phase_cap_reached" : "breaker_open",
    until,
  };
}

type AttemptEffect = {
  readonly tree: string | null;
  readonly checks: readonly CheckResult[];
  readonly changed: boolean;
};

/**
 * Whether an attempt made progress: a check passes that failed when it was last run, or its change
 * led to a tree that this phase has not had.
 */
export function madeProgress(
  run: RunView,
  phase: string,
  { tree, checks, changed }: AttemptEffect,
): boolean {
  const isNewlyPassing = checks.some(({ check, status }) => {
    const previous = ownValue(run.checks, check.id);
    return status === "passed" && previous !== undefined && previous.latest.status !== "passed";
  });
  if (isNewlyPassing) return true;
  return changed && (tree === null || !(ownValue(run.trees, phase) ?? []).includes(tree));
}

/** Two errors that differ only behind this are the same. */
const messageCharsMax = 4_000;
const fingerprintCharsMax = 200;

/**
 * An error without the parts that vary from one occurrence to the next: quotations, paths,
 * durations, hashes, numbers. `Expected "a" at src/x.ts:12 after 340 ms` becomes `expected at
 * after`.
 */
export function errorFingerprint(category: string, message: string): string {
  const normalized = message
    .slice(0, messageCharsMax)
    .replaceAll(/"[^"\n]{0,500}"|`[^`\n]{0,500}`/g, " ")
    .replaceAll(/(^|[\s(=:,[])'[^'\n]{0,500}'/g, "$1 ")
    .replaceAll(/\S*[/\\]\S*/g, " ")
    .replaceAll(
      /\b\d+(?:[.:]\d+)*\s?(?:ms|s|sec|secs|seconds?|m|min|mins|minutes?|h|hours?)\b/gi,
      " ",
    )
    .replaceAll(/\b0x[0-9a-f]+\b/gi, " ")
    .replaceAll(/\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b/gi, " ")
    .replaceAll(/\d+/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
    .toLowerCase();

  return `${category}: ${normalized}`.slice(0, fingerprintCharsMax);
}
