// run-parts: schemas that several events share: the agents, the starting point, a provider's
// refusal, a limit that is short, a fork's parent.

import * as v from "valibot";
import { Dimension, Usage } from "./budget.ts";
import { AgentOverride } from "./config.ts";
import { GitSha, Hash, RunId } from "./ids.ts";

const text = v.string();
const maybe = <S extends v.GenericSchema>(schema: S) => v.optional(schema);

/**
 * The agent that plays a role: the profile's name, for the scripted agent its script by hash, and
 * its settings in the config.
 */
const Player = v.strictObject({
  agent: text,
  script: maybe(Hash),
  argv: maybe(v.array(text)),
  override: maybe(AgentOverride),
  /** Its position among the agents of a role, if several are named. */
  rank: maybe(v.pipe(v.number(), v.integer(), v.minValue(0))),
});
/** The agent of a role, and those that take over at a provider's limit. */
export const Cast = v.strictObject({ ...Player.entries, instead: maybe(v.array(Player)) });
export type Cast = v.InferOutput<typeof Cast>;

/** Where a run begins in the repository; `branch`: null for a detached HEAD. */
export const Base = v.strictObject({
  branch: v.nullable(text),
  commit: GitSha,
  tree: GitSha,
});
export type Base = v.InferOutput<typeof Base>;

/**
 * Why a model provider did not answer: its limit is used up, it is down, it refuses the request, or
 * it refuses the key.
 */
export const ProviderFault = v.picklist(["limit", "service", "request", "access"]);
export type ProviderFault = v.InferOutput<typeof ProviderFault>;

/** A limit without room for what comes next, and what it must be raised to. */
export const ShortLimit = v.strictObject({
  scope: v.picklist(["run", "phase"]),
  dimension: Dimension,
  limit: v.number(),
  to: v.number(),
});

/** A raised limit. `from` is absent if there was none, and on lines of older runs. */
export const raisedLimit = {
  scope: v.picklist(["run", "phase"]),
  dimension: text,
  from: v.optional(v.number()),
  to: v.number(),
} as const;

/**
 * A person's note on a line of the change. `side`: whether the line number is of the old or the new
 * file.
 */
export const ReviewNote = v.strictObject({
  path: v.pipe(text, v.maxLength(4_096)),
  line: v.pipe(v.number(), v.integer(), v.minValue(0)),
  side: v.picklist(["old", "new"]),
  text: v.pipe(text, v.nonEmpty(), v.maxLength(4_000)),
});
export type ReviewNote = v.InferOutput<typeof ReviewNote>;

const Amount = v.pipe(v.number(), v.finite(), v.minValue(0));
const Limits = v.record(v.string(), v.number());

/** A forked run's origin, what it took over and what is different in it. */
export const Forked = v.strictObject({
  /** The run it was forked from, the last line that was taken over, and that line's hash. */
  run: RunId,
  at: v.pipe(v.number(), v.integer(), v.minValue(1)),
  line: Hash,
  /** Cost of the copied entries in the original run; not charged here. */
  taken: v.strictObject({ tokens: Amount, calls: Amount, minutes: Amount, usd: Amount }),
  /** The largest turn of each role there: what the next one is expected to need. */
  largest: v.record(v.string(), Usage),
  /** Overrides from here on; absent means unchanged. */
  cast: v.optional(v.record(v.string(), Cast)),
  prompts: v.optional(v.record(v.string(), Hash)),
  limits: v.optional(v.strictObject({ run: v.optional(Limits), phase: v.optional(Limits) })),
});
export type Forked = v.InferOutput<typeof Forked>;
