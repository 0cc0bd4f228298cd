// dialects: describes the four APIs of model providers: where each reports its figures, its end and
// its errors, and which parts are text.

import type { ModelApi } from "../contracts/model-api.ts";
import { parseFigure, type ProviderUsage } from "./call-usage.ts";

/** How one API writes its answers. Places are paths of keys; arrays on the way do not count. */
export type Dialect = {
  /** Where the figures are. */
  readonly usage: readonly (readonly string[])[];
  /** A string here means that the model has finished. */
  readonly end: readonly (readonly string[])[];
  /** An event with figures, and without such a string, that is the last anyway. */
  readonly isLast: (event: unknown) => boolean;
  /** Every event has the figures so far, not only the first and last. */
  readonly isSumSoFar: boolean;
  /** Where an error is. */
  readonly error: readonly (readonly string[])[];
  /** Other signs of an error in a stream, as a pattern that does not end in a quote. */
  readonly alsoMarks?: string;
  /** Keys whose strings are the model's text, in a stream. */
  readonly texts: readonly string[];
  /** The same in an answer in one piece, if it differs. */
  readonly wholeTexts?: readonly string[];
  /** The provider's figures in one form for all. */
  readonly readUsage: (usage: Readonly<Record<string, unknown>>) => ProviderUsage;
};

export const dialects: Readonly<Record<ModelApi, Dialect>> = {
  anthropic: {
    usage: [["usage"], ["message", "usage"]],
    end: [["delta", "stop_reason"], ["stop_reason"]],
    isLast: () => false,
    isSumSoFar: false,
    error: [["error"]],
    texts: ["text", "thinking", "partial_json", "data"],
    readUsage: (usage) => {
      const fresh = parseFigure(usage["input_tokens"]);
      const written = parseFigure(usage["cache_creation_input_tokens"]);
      const read = parseFigure(usage["cache_read_input_tokens"]);

      return toProviderUsage({
        input: sumParts(fresh, written, read),
        output: parseFigure(usage["output_tokens"]),
        cached: read,
        written,
        writtenLong: parseFigure(asRecord(usage["cache_creation"])["ephemeral_1h_input_tokens"]),
      });
    },
  },
  "openai-responses": {
    usage: [["response", "usage"], ["usage"]],
    end: [],
    isLast: () => true,
    isSumSoFar: false,
    error: [["response", "error"], ["error"], ["message"]],
    alsoMarks: '"type":\\s*"error"\\s*[,}]',
    // Of a stream only the deltas count: its last events repeat the whole text.
    texts: ["delta"],
    wholeTexts: ["text", "arguments", "input"],
    readUsage: (usage) => {
      const details = asRecord(usage["input_tokens_details"]);
      return toProviderUsage({
        input: parseFigure(usage["input_tokens"]),
        output: parseFigure(usage["output_tokens"]),
        cached: parseFigure(details["cached_tokens"]),
        written: parseFigure(details["cache_write_tokens"]),
      });
    },
  },
  "openai-chat": {
    // Moonshot reports its figures inside the last choice.
    usage: [["usage"], ["choices", "usage"]],
    end: [["choices", "finish_reason"]],
    isLast: (event) =>
      Array.isArray(asRecord(event)["choices"]) &&
      (asRecord(event)["choices"] as readonly unknown[]).length === 0,
    isSumSoFar: false,
    error: [["error"]],
    texts: ["content", "arguments", "reasoning_content", "reasoning", "refusal"],
    readUsage: (usage) => {
      const input = parseFigure(usage["prompt_tokens"]);
      const completion = parseFigure(usage["completion_tokens"]);
      const total = parseFigure(usage["total_tokens"]);
      const details = asRecord(usage["prompt_tokens_details"]);

      return toProviderUsage({
        input,
        // Some count reasoning tokens in the total only.
        output: takeLarger(completion, subtract(total, input)),
        cached: parseFigure(
          details["cached_tokens"] ?? usage["cached_tokens"] ?? usage["prompt_cache_hit_tokens"],
        ),
        written: parseFigure(details["cache_write_tokens"]),
      });
    },
  },
  gemini: {
    usage: [["usageMetadata"], ["response", "usageMetadata"]],
    end: [
      ["candidates", "finishReason"],
      ["response", "candidates", "finishReason"],
    ],
    isLast: () => false,
    isSumSoFar: true,
    error: [["error"]],
    texts: ["text"],
    readUsage: (usage) =>
      toProviderUsage({
        input: sumParts(
          parseFigure(usage["promptTokenCount"]),
          parseFigure(usage["toolUsePromptTokenCount"]),
        ),
        output: sumParts(
          parseFigure(usage["candidatesTokenCount"]),
          parseFigure(usage["thoughtsTokenCount"]),
        ),
        cached: parseFigure(usage["cachedContentTokenCount"]),
      }),
  },
};

/** An empty object for anything else than an object. */
export function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

/** The first value at the end of a path of keys; arrays on the way are searched. */
export function findValue(value: unknown, path: readonly string[]): unknown {
  const [name, ...pathInside] = path;
  if (name === undefined) return value;
  for (const element of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
    const foundValue = findValue(asRecord(element)[name], pathInside);
    if (foundValue !== undefined && foundValue !== null) return foundValue;
  }

  return undefined;
}

/** The object that a JSON text is; an empty one if it is something else. */
export function parseJsonRecord(text: string): Readonly<Record<string, unknown>> {
  try {
    return asRecord(JSON.parse(text));
  } catch {
    return {};
  }
}

/** What `parseFigure` made of each figure; a provider that has no such figure leaves it out. */
type ParsedFigures = {
  readonly input: number | null;
  readonly output: number | null;
  readonly cached: number | null;
  readonly written?: number | null;
  readonly writtenLong?: number | null;
};

function toProviderUsage({
  input,
  output,
  cached,
  written = null,
  writtenLong = null,
}: ParsedFigures): ProviderUsage {
  const dropNaN = (value: number | null): number | null =>
    value === null || Number.isNaN(value) ? null : value;
  return {
    input: dropNaN(input),
    output: dropNaN(output),
    cached: dropNaN(cached),
    written: dropNaN(written),
    writtenLong: dropNaN(writtenLong),
    isAbsurd: [input, output, cached, written, writtenLong].some((value) => Number.isNaN(value)),
  };
}

/** NaN in one makes the sum NaN: a sum with an invalid figure is invalid. */
function sumParts(...parts: readonly (number | null)[]): number | null {
  const figures = parts.filter((part) => part !== null);
  return figures.length === 0 ? null : figures.reduce((sum, part) => sum + part, 0);
}

function takeLarger(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}

function subtract(whole: number | null, part: number | null): number | null {
  return whole === null || part === null ? null : Math.max(0, whole - part);
}
