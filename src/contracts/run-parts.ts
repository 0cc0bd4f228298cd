// run-parts: pieces of a run that several events carry: who works, where it began, what a provider answered, which limit is short.

import * as v from "valibot";
import { Dimension } from "./budget.ts";
import { AgentOverride } from "./config.ts";
import { GitSha, Hash } from "./ids.ts";

const text = v.string();
const maybe = <S extends v.GenericSchema>(schema: S) => v.optional(schema);

/** Which agent plays a role: the profile's name, for the scripted agent its script by hash, and what the config says of it. */
export const Cast = v.strictObject({ agent: text, script: maybe(Hash), argv: maybe(v.array(text)), override: maybe(AgentOverride) });
export type Cast = v.InferOutput<typeof Cast>;

export const Base = v.strictObject({
  branch: v.nullable(text),
  commit: GitSha,
  tree: GitSha,
});
export type Base = v.InferOutput<typeof Base>;

/** Why a model provider did not answer: its limit is used up, it is out of order, it refuses the request, or it refuses us. */
export const ProviderFault = v.picklist(["limit", "service", "request", "access"]);
export type ProviderFault = v.InferOutput<typeof ProviderFault>;

/** A limit without room for what comes next, and what it must be raised to. */
export const ShortLimit = v.strictObject({ scope: v.picklist(["run", "phase"]), dimension: Dimension, limit: v.number(), to: v.number() });

/** What a person noted on a line of the change. `side`: whether the line is numbered as it was or as it is. */
export const ReviewNote = v.strictObject({
  path: v.pipe(text, v.maxLength(4_096)),
  line: v.pipe(v.number(), v.integer(), v.minValue(0)),
  side: v.picklist(["old", "new"]),
  text: v.pipe(text, v.nonEmpty(), v.maxLength(4_000)),
});
export type ReviewNote = v.InferOutput<typeof ReviewNote>;
