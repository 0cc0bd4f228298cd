// tunable-limits: the range and default of each limit that a file may tune, and the one limit that no
// file does: the size of a changed file. One table, so that no file silently accepts what another
// refuses. A bound that nothing can reach has no effect, and one
// that is reached at once stops every run: both are mistakes, and are reported.

import * as v from "valibot";

type Range = { readonly from: number; readonly to: number; readonly isWhole: boolean };

const wholeNumber = (from: number, to: number): Range => ({ from, to, isWhole: true });
const anyNumber = (from: number, to: number): Range => ({ from, to, isWhole: false });

const tokensMax = 1_000_000_000_000;
const triesMax = 10_000;
const weekMinutes = 10_080;
const yearMinutes = 525_600;

/**
 * Thresholds of the circuit breaker and caps, where neither the config nor the flow sets one. The
 * roadmap's flow.yaml repeats some of them, since a flow says its own limits: there the flow's
 * number counts, and a test (playbooks/roadmap/steps/flow.test.ts) holds both equal.
 */
export const thresholdDefaults = {
  no_progress_threshold: 3,
  same_error_threshold: 5,
  output_degradation_pct: 70,
  max_debug_attempts_per_phase: 3,
  max_replan_attempts_per_phase: 1,
  max_total_retries_per_run: 10,
  cooldown_minutes: 5,
  cost_cap_tokens_per_phase: 500_000,
  cost_cap_tokens_total: 5_000_000,
  wall_clock_timeout_minutes_per_phase: 120,
  wall_clock_timeout_minutes_total: 1_440,
} as const;

export type Threshold = keyof typeof thresholdDefaults;
export const isThreshold = (name: string): name is Threshold =>
  Object.hasOwn(thresholdDefaults, name);

/** The largest file that an agent's change may hold. No setting tunes it. */
export const changedFileBytesMax = 50 * 1024 ** 2;

/** The breaker's thresholds and the caps. */
const breakerRanges = {
  no_progress_threshold: wholeNumber(1, triesMax),
  same_error_threshold: wholeNumber(1, triesMax),
  output_degradation_pct: wholeNumber(0, 100),
  max_debug_attempts_per_phase: wholeNumber(0, triesMax),
  max_replan_attempts_per_phase: wholeNumber(0, triesMax),
  max_total_retries_per_run: wholeNumber(0, triesMax),
  cooldown_minutes: anyNumber(0, weekMinutes),
  cost_cap_tokens_per_phase: wholeNumber(1, tokensMax),
  cost_cap_tokens_total: wholeNumber(1, tokensMax),
  wall_clock_timeout_minutes_per_phase: anyNumber(0.01, yearMinutes),
  wall_clock_timeout_minutes_total: anyNumber(0.01, yearMinutes),
} as const;

/** The constants of an estimate. */
const costRanges = {
  task_tokens_simple: anyNumber(0, tokensMax),
  task_tokens_medium: anyNumber(0, tokensMax),
  task_tokens_complex: anyNumber(0, tokensMax),
  pipeline_overhead: anyNumber(0, tokensMax),
  buffer_multiplier: anyNumber(1, 100),
  warning_threshold_pct: anyNumber(0, 100),
  default_estimates_protocol: anyNumber(0, tokensMax),
  default_estimates_ui: anyNumber(0, tokensMax),
  default_estimates_data: anyNumber(0, tokensMax),
  default_estimates_mixed: anyNumber(0, tokensMax),
} as const;

export const limitRanges: Readonly<Record<string, Range>> = { ...breakerRanges, ...costRanges };

/** A range in words: `a whole number from 1 to 10,000`. */
export const describeRange = ({ from, to, isWhole }: Range): string =>
  `a ${isWhole ? "whole " : ""}number from ${from} to ${String(to).replaceAll(/\B(?=(?:\d{3})+$)/g, ",")}`;

function limitSchema(range: Range): v.GenericSchema<number> {
  const message = `expected ${describeRange(range)}`;
  const bounded = v.pipe(
    v.number(),
    v.minValue(range.from, message),
    v.maxValue(range.to, message),
  );
  return range.isWhole ? v.pipe(bounded, v.integer(message)) : bounded;
}

type Entries<Names extends string> = Record<
  Names,
  v.OptionalSchema<v.GenericSchema<number>, undefined>
>;
const limitEntries = <Names extends string>(
  ranges: Readonly<Record<Names, Range>>,
): Entries<Names> =>
  Object.fromEntries(
    Object.entries<Range>(ranges).map(([name, range]) => [name, v.optional(limitSchema(range))]),
  ) as Entries<Names>;

export const breakerEntries = limitEntries(breakerRanges);

/** Limits by their names; any other name is an option of some flow. */
export const TunedLimits = v.objectWithRest(
  limitEntries(limitRanges),
  limitSchema(anyNumber(0, tokensMax)),
) as v.GenericSchema<Record<string, number>>;
