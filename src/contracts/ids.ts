// ids: schemas of the identifiers in the journal: runs, steps, attempts, blocks, hashes and actors.

import * as v from "valibot";

/**
 * A run's id: its start in UTC, a number if two began in one second, and one more for a child run.
 */
export const RunId = v.pipe(
  v.string(),
  v.regex(/^run-\d{4}-\d{2}-\d{2}-\d{6}(-\d+)*$/, "expected run-YYYY-MM-DD-HHMMSS"),
);
export type RunId = v.InferOutput<typeof RunId>;

/** A step's, role's, count's or option's name in a flow. */
export const Name = v.pipe(
  v.string(),
  v.regex(/^[a-z][a-z0-9_-]{0,63}$/, "expected a name: lower-case letters, digits, _ and -"),
);
export type Name = v.InferOutput<typeof Name>;

/** A cursor's path: `1`, `before.survey`, `1@1/execute#1/03-01`, `1/closing`. */
export const CursorPath = v.pipe(v.string(), v.minLength(1), v.maxLength(512));
export type CursorPath = v.InferOutput<typeof CursorPath>;

/**
 * One try at one step, named by its position: `1@1/execute#2`. It follows from the journal, so it
 * needs no randomness.
 */
export const AttemptId = v.pipe(
  v.string(),
  v.regex(/#[1-9]\d*$/, "expected an attempt: walk@visit/step#ordinal"),
  v.maxLength(600),
);
export type AttemptId = v.InferOutput<typeof AttemptId>;

/** A block: a question only a person can answer. */
export const BlockId = v.pipe(v.string(), v.startsWith("block:"), v.maxLength(700));
export type BlockId = v.InferOutput<typeof BlockId>;

/** SHA-256 in hex: of a blob, a line, a flow, a preview. */
export const Hash = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "expected a SHA-256 in hex"));
export type Hash = v.InferOutput<typeof Hash>;

/** A git object's name, SHA-1 or SHA-256. */
export const GitSha = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "expected a git object name"),
);
export type GitSha = v.InferOutput<typeof GitSha>;

/** `operator:<user>`, `system`, `agent:<name>`. */
export const Actor = v.pipe(
  v.string(),
  v.regex(
    /^(system|operator:.{1,128}|agent:.{1,128})$/,
    "expected system, operator:<user> or agent:<name>",
  ),
);
export type Actor = v.InferOutput<typeof Actor>;
