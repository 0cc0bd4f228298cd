// answer: what the model says to one request, told alike for all vendors.
// Figures are believable: a token is four characters, and what was there before the model last
// spoke comes from the cache.

import { randomBytes } from "node:crypto";
import type { Asked } from "./conversation.ts";
import type { Planned, Usage } from "./script.ts";
import { type Call, callOf } from "./tool-choice.ts";

export type Answer = {
  /** Distinct for every answer; vendors put their own mark before it. */
  readonly id: string;
  readonly model: string;
  readonly thinking: string;
  readonly text: string;
  readonly call: Call | null;
  readonly usage: Usage;
};

const charsPerToken = 4;
const tokensOf = (chars: number): number => Math.ceil(chars / charsPerToken);

export function answerOf(planned: Planned, asked: Asked): Answer {
  const call = planned.action === null ? null : callOf(planned.action, asked);
  const text = planned.text === "" && call === null ? "Done." : planned.text;
  const thinking = "step by step ... "
    .repeat(Math.ceil((planned.thinkingTokens * charsPerToken) / 17))
    .slice(0, planned.thinkingTokens * charsPerToken);

  const outputTokens =
    tokensOf(text.length + (call === null ? 0 : JSON.stringify(call).length)) +
    planned.thinkingTokens;

  const usage: Usage = {
    ...inputOf(asked),
    outputTokens,
    thinkingTokens: planned.thinkingTokens,
    ...planned.usage,
  };

  return { id: randomBytes(12).toString("hex"), model: asked.model, thinking, text, call, usage };
}

function inputOf({
  said,
  fixedChars,
  api,
}: Asked): Pick<Usage, "inputTokens" | "cacheReadTokens" | "cacheWriteTokens"> {
  const lastAnswer = said.findLastIndex(({ by }) => by === "model");
  const charsOf = (some: Asked["said"]): number => some.reduce((sum, { chars }) => sum + chars, 0);
  const kept = lastAnswer < 0 ? 0 : tokensOf(fixedChars + charsOf(said.slice(0, lastAnswer)));
  const fresh = tokensOf(
    charsOf(said.slice(Math.max(lastAnswer, 0))) + (lastAnswer < 0 ? fixedChars : 0),
  );

  // Of the four only Anthropic tells, and charges, what it writes into its cache.
  if (api !== "anthropic") {
    return { inputTokens: fresh, cacheReadTokens: kept, cacheWriteTokens: 0 };
  }

  const written = Math.max(0, fresh - 3);
  return { inputTokens: fresh - written, cacheReadTokens: kept, cacheWriteTokens: written };
}

/** A text in the pieces that a stream brings it in. */
export function* piecesOf(text: string): Generator<string> {
  const length = text.length > 20_000 ? 4_096 : 24;
  for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
}
