// documents-read: schemas of what readers find in the user's documents: phases, tasks, and the
// documents themselves.

import * as v from "valibot";
import { Check } from "./evidence.ts";
import { Hash } from "./ids.ts";

const text = v.string();

/** A document of the user's that a run follows: its path, and its content by hash. */
export const DocumentRead = v.strictObject({ path: text, hash: Hash });
export type DocumentRead = v.InferOutput<typeof DocumentRead>;

/**
 * A phase that a reader found in a document. `after`: phases that must come first. `skip`: it is
 * not run, for this reason.
 */
export const PhaseRead = v.strictObject({
  id: text,
  name: v.optional(text),
  after: v.array(text),
  skip: v.optional(text),
  /** Its description in the document, for the agent's prompt. */
  about: v.optional(text),
  /** The commands that decide whether it is done, as its document gives them. */
  checks: v.optional(v.array(Check)),
});
export type PhaseRead = v.InferOutput<typeof PhaseRead>;

/**
 * A task that a reader found in a document. `files`: what it may change. `after`: tasks that must
 * come first.
 */
export const TaskRead = v.strictObject({
  id: text,
  files: v.array(text),
  after: v.array(text),
  title: v.optional(text),
  type: v.optional(text),
  about: v.optional(text),
  checks: v.optional(v.array(Check)),
});
export type TaskRead = v.InferOutput<typeof TaskRead>;
