// script: schemas of the scripts that the embedded agent plays, and of the turn facts that every
// agent receives.

import * as v from "valibot";

const text = v.string();
const ms = v.pipe(v.number(), v.minValue(0), v.maxValue(86_400_000));
const singleKey = <K extends string, S extends v.GenericSchema>(key: K, schema: S) =>
  v.strictObject({ [key]: schema } as Record<K, S>);

/** One action of the embedded agent, honest or not. */
export const ScriptAction = v.union([
  singleKey("write", v.strictObject({ path: text, text, mode: v.optional(text) })),
  singleKey("append", v.strictObject({ path: text, text })),
  singleKey("delete", v.strictObject({ path: text })),
  singleKey("rename", v.strictObject({ from: text, to: text })),
  singleKey("chmod", v.strictObject({ path: text, mode: text })),
  singleKey("link", v.strictObject({ path: text, target: text, hard: v.optional(v.boolean()) })),
  singleKey("run", text),
  singleKey("say", text),
  singleKey("think", text),
  singleKey(
    "usage",
    v.strictObject({
      input: v.optional(v.number()),
      output: v.optional(v.number()),
      cached: v.optional(v.number()),
      usd: v.optional(v.number()),
    }),
  ),
  singleKey("sleep", ms),
  singleKey("hang", v.literal(true)),
  singleKey("exit", v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(255))),
  singleKey("flood", v.pipe(v.number(), v.minValue(1))),
  singleKey("ignore_term", v.literal(true)),
  singleKey("garbage", text),
  singleKey("error", v.strictObject({ code: v.optional(v.number()), message: text })),
  singleKey("stop", text),
  // Through the tools the runner offers: hand in a result, ask the person in charge, leave a note.
  singleKey("submit", v.record(text, v.unknown())),
  singleKey(
    "ask",
    v.union([text, v.strictObject({ question: text, options: v.optional(v.array(text)) })]),
  ),
  singleKey("note", text),
]);
export type ScriptAction = v.InferOutput<typeof ScriptAction>;

export const ScriptTurn = v.strictObject({
  when: v.optional(
    v.strictObject({
      flow: v.optional(text),
      phase: v.optional(v.union([text, v.number()])),
      step: v.optional(text),
      role: v.optional(text),
      task: v.optional(text),
      attempt: v.optional(v.number()),
      ask: v.optional(v.number()),
    }),
  ),
  do: v.optional(v.array(ScriptAction)),
  returns: v.optional(v.unknown()),
  confidence: v.optional(v.number()),
  repeat: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
});
export type ScriptTurn = v.InferOutput<typeof ScriptTurn>;

/**
 * A script for the embedded agent: for each prompt the first unused turn whose `when` matches is
 * played.
 */
export const Script = v.strictObject({ $schema: v.optional(text), turns: v.array(ScriptTurn) });
export type Script = v.InferOutput<typeof Script>;

/** The facts of one turn, as the runner hands them to every agent in `_meta.autopilot`. */
export const TurnFacts = v.strictObject({
  flow: text,
  phase: text,
  step: text,
  role: text,
  task: v.nullable(text),
  attempt: v.number(),
  ask: v.number(),
});
export type TurnFacts = v.InferOutput<typeof TurnFacts>;
export const TurnMeta = v.strictObject({
  run: text,
  ...TurnFacts.entries,
  history: v.array(TurnFacts),
});
export type TurnMeta = v.InferOutput<typeof TurnMeta>;
