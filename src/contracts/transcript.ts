// transcript: schema of a turn's transcript: what the agent said and did, one JSON object per line,
// in order. Transcripts are for people; nothing is decided by them, so a missing or torn line does
// no harm.

import * as v from "valibot";
import { Hash } from "./ids.ts";

const at = v.pipe(v.string(), v.maxLength(40));

/** A turn begins. A turn that a crash interrupted begins again in the same file. */
const Begins = v.object({
  kind: v.literal("turn"),
  at,
  attempt: v.string(),
  agent: v.string(),
  prompt: v.optional(v.string()),
});
const Said = v.object({ kind: v.literal("said"), at, text: v.string() });
const Thought = v.object({ kind: v.literal("thought"), at, text: v.string() });
/**
 * A tool call, repeated under the same id when more of it is known. `tool` is what it does: read,
 * edit, execute, …
 */
const Tool = v.object({
  kind: v.literal("tool"),
  at,
  call: v.string(),
  title: v.string(),
  tool: v.optional(v.string()),
  path: v.optional(v.string()),
  input: v.optional(v.string()),
});
const Result = v.object({
  kind: v.literal("result"),
  at,
  call: v.string(),
  status: v.string(),
  output: v.optional(v.string()),
});
/** `left_out`: how many lines were beyond the size bound. */
const Ends = v.object({ kind: v.literal("end"), at, how: v.string(), left_out: v.number() });

export const TranscriptLine = v.variant("kind", [Begins, Said, Thought, Tool, Result, Ends]);
export type TranscriptLine = v.InferOutput<typeof TranscriptLine>;

/** How the journal names a turn's transcript: the file as it was when the turn ended. */
export const TranscriptKept = v.strictObject({ file: v.string(), bytes: v.number(), sha256: Hash });
export type TranscriptKept = v.InferOutput<typeof TranscriptKept>;

/** One tool call as a reader sees it. */
export type TurnCall = {
  readonly kind: "tool";
  readonly at: string;
  readonly call: string;
  readonly title: string;
  readonly tool: string | null;
  readonly path: string | null;
  readonly input: string | null;
  readonly ended_at: string | null;
  /** `open` while no result is known. */
  readonly status: string;
  readonly output: string | null;
};
export type TurnText = {
  readonly kind: "said" | "thought";
  readonly at: string;
  readonly text: string;
};
export type TurnTranscript = {
  readonly attempt: string;
  readonly agent: string;
  readonly from: string;
  readonly to: string | null;
  /** How the turn ended; null while it is open or if a crash ended it. */
  readonly how: string | null;
  readonly left_out: number;
  /** What the agent was asked; null in transcripts of earlier versions. */
  readonly prompt: string | null;
  readonly entries: readonly (TurnCall | TurnText)[];
};
