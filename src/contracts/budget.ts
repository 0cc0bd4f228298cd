// budget: schemas of usage and budgets: the four dimensions and their limits. The named profiles
// are in budget-profiles.ts.

import * as v from "valibot";

/** The four things a run may use up. The same names are in limits, counters, ratios and flags. */
export const dimensions = ["tokens", "minutes", "calls", "usd"] as const;
export const Dimension = v.picklist(dimensions);
export type Dimension = v.InferOutput<typeof Dimension>;

const Amount = v.pipe(v.number(), v.finite(), v.minValue(0));

/**
 * What one turn used, normalised. Source `estimated`: the agent reported nothing believable, so the
 * estimate is charged, never zero.
 */
export const Usage = v.strictObject({
  tokens: Amount,
  input: v.optional(Amount),
  output: v.optional(Amount),
  cached: v.optional(Amount),
  usd: v.optional(Amount),
  calls: Amount,
  minutes: Amount,
  /** How many of the tokens are an estimate, if the source knows only the others. */
  estimated: v.optional(Amount),
  source: v.picklist(["metered", "reported", "estimated"]),
});
export type Usage = v.InferOutput<typeof Usage>;

/** What may be used: a bound per dimension, and the share of it at which a warning is given. */
export const Budget = v.strictObject({
  profile: v.nullable(v.picklist(["conservative", "balanced", "extended"])),
  soft_ratio: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
  limits: v.strictObject({
    tokens: v.optional(v.pipe(v.number(), v.minValue(1))),
    minutes: v.optional(v.pipe(v.number(), v.minValue(0.001))),
    calls: v.optional(v.pipe(v.number(), v.minValue(1))),
    usd: v.optional(v.pipe(v.number(), v.minValue(0.000001))),
  }),
});
export type Budget = v.InferOutput<typeof Budget>;
