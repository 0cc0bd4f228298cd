// look-schemas: the JSON that `diff`, `transcript` and `runs` promise to programs.

import * as v from "valibot";
import { changedFile, common } from "./answer-schemas.ts";

const text = v.string();
const maybeText = v.nullable(text);

export const diffSchema = v.looseObject({
  ...common,
  base: text,
  tip: text,
  files: v.array(v.looseObject(changedFile)),
  commits: v.array(v.looseObject({ sha: text, subject: text })),
  /** Not with --stat, nor if nothing changed. */
  patch: v.optional(text),
});

const call = v.looseObject({
  kind: v.literal("tool"),
  at: text,
  call: text,
  title: text,
  tool: maybeText,
  path: maybeText,
  input: maybeText,
  ended_at: maybeText,
  status: text,
  output: maybeText,
});
const words = v.looseObject({ kind: v.picklist(["said", "thought"]), at: text, text });

export const transcriptSchema = v.looseObject({
  ...common,
  turns: v.array(
    v.looseObject({
      attempt: text,
      agent: text,
      from: text,
      to: maybeText,
      how: maybeText,
      left_out: v.number(),
      entries: v.array(v.union([call, words])),
    }),
  ),
});

export const runsSchema = v.looseObject({
  ...common,
  state: v.null(),
  runs: v.array(
    v.looseObject({
      run_id: text,
      state: text,
      live: v.boolean(),
      current: v.boolean(),
      foreign: v.boolean(),
      flow: maybeText,
      goal: maybeText,
      verdict: maybeText,
      tokens: v.number(),
      usd: v.number(),
      updated_at: maybeText,
      disk_bytes: v.number(),
    }),
  ),
});
