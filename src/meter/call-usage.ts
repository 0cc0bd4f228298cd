// call-usage: counts what one call used: by the provider's own figures if they are plausible, else by
// an estimate from the bytes.
//
// Invariants:
//   F1. A call that a model worked on is never free.
//   F2. Until the provider has reported its last output figure, at least the transferred bytes
//       count.
//   F3. An implausible figure is not believed; then the larger of the reported and the estimated
//       value counts.

import { bytesPerToken, frameBytesPerToken, textBytesPerTokenMax, tokensMax } from "./limits.ts";
import type { ListPrice } from "./prices.ts";

/**
 * A provider's figures, in one form for all; null if not reported. Input includes tokens read from
 * and written to a cache.
 */
export type ProviderUsage = {
  readonly input: number | null;
  readonly output: number | null;
  /** Read from a cache. */
  readonly cached: number | null;
  /** Written to a cache, and how much of it for long (at Anthropic an hour). */
  readonly written: number | null;
  readonly writtenLong: number | null;
  /** A figure was negative, not a number, or absurd. */
  readonly isAbsurd: boolean;
};

/** What a call is charged. */
export type CallUsage = {
  readonly tokens: number;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly usd: number;
  /** How many of the tokens the provider did not report. */
  readonly estimated: number;
};
export const usedNothing: CallUsage = {
  tokens: 0,
  input: 0,
  output: 0,
  cached: 0,
  usd: 0,
  estimated: 0,
};

export type UsageCounter = {
  /** The provider reported usage; later figures replace earlier ones. */
  readonly report: (reported: ProviderUsage) => void;
  /** How much text, and how many bytes in total, came so far. */
  readonly setStreamed: (textBytes: number, bytes: number) => void;
  /** The request is sent: from now on it counts. */
  readonly send: () => void;
  /** The output figure reported last is final. Without this, at least the estimate is charged. */
  readonly finish: () => void;
  /** The provider refused, or got nothing: nothing was used. */
  readonly forgive: () => void;
  readonly usage: () => CallUsage;
};

/** A price is for a million tokens. */
const priceUnitTokens = 1_000_000;
/** What a cache write for long costs (at Anthropic an hour), as a multiple of a short one. */
const longCacheWriteFactor = 1.6;

/** The largest figure reported, and whether the figures contradict each other or sense. */
type TokenCount = { tokens: number | null; isDoubted: boolean };

/** Without a price the tokens are counted, and the money is 0. */
export function openUsageCounter(requestBytes: number, price: ListPrice | null): UsageCounter {
  const input: TokenCount = { tokens: null, isDoubted: false };
  const output: TokenCount = { tokens: null, isDoubted: false };
  let cached = 0;
  let written = 0;
  let writtenLong = 0;
  let textBytes = 0;
  let bytes = 0;
  let isSent = false;
  let isSettled = false;
  let isForgiven = false;

  function update(side: TokenCount, reported: number | null): void {
    // Zero after a figure means "not reported this time" with most providers; a smaller figure
    // means that one of the two is wrong.
    if (reported === null || (reported === 0 && side.tokens !== null)) return;
    if (side.tokens !== null && reported < side.tokens) side.isDoubted = true; // F3
    side.tokens = Math.max(side.tokens ?? 0, reported);
  }

  const estimatedInput = Math.ceil(requestBytes / bytesPerToken);
  function count(): CallUsage {
    const estimatedOutput = Math.ceil(
      Math.max(textBytes / bytesPerToken, bytes / frameBytesPerToken),
    );

    const isTooLittle = output.tokens !== null && output.tokens * textBytesPerTokenMax < textBytes; // F3
    const isBelieved = isSettled && output.tokens !== null && !output.isDoubted && !isTooLittle;
    // No input at all is what some report that do not count it (F1).
    const isInputBelieved = input.tokens !== null && input.tokens > 0 && !input.isDoubted;
    const total = {
      input: isInputBelieved ? (input.tokens ?? 0) : Math.max(input.tokens ?? 0, estimatedInput),
      output: isBelieved ? (output.tokens ?? 0) : Math.max(output.tokens ?? 0, estimatedOutput), // F2
    };
    const cacheRead = Math.min(cached, total.input);
    // The part above the reported figure is an estimate; of a doubtful figure all of it is.
    const estimatedPart = (side: TokenCount, counted: number): number =>
      side.isDoubted ? counted : counted - Math.min(counted, side.tokens ?? 0);
    const estimated = estimatedPart(input, total.input) + estimatedPart(output, total.output);

    return {
      tokens: total.input + total.output,
      ...total,
      cached: cacheRead,
      usd: computeUsd(total.input, total.output, cacheRead),
      estimated,
    };
  }

  function computeUsd(inputTokens: number, outputTokens: number, read: number): number {
    if (price === null) return 0;
    const cacheWritten = Math.min(written, inputTokens - read);
    const cacheWrittenLong = Math.min(writtenLong, cacheWritten);
    const isLong = price.long !== undefined && inputTokens > price.long.overTokens;
    const factors = (isLong ? price.long : undefined) ?? { input: 1, output: 1 };
    const write = price.cache_write ?? price.input;

    const inputCost =
      (inputTokens - read - cacheWritten) * price.input +
      read * (price.cached ?? price.input) +
      (cacheWritten - cacheWrittenLong) * write +
      cacheWrittenLong * write * longCacheWriteFactor;
    return (
      (inputCost * factors.input + outputTokens * price.output * factors.output) / priceUnitTokens
    );
  }

  return {
    report: (reported) => {
      if (reported.isAbsurd) {
        input.isDoubted = true; // F3
        output.isDoubted = true;
      }

      update(input, reported.input);
      update(output, reported.output);
      cached = Math.max(cached, reported.cached ?? 0);
      written = Math.max(written, reported.written ?? 0);
      writtenLong = Math.max(writtenLong, reported.writtenLong ?? 0);
    },
    setStreamed: (text, all) => {
      textBytes = text;
      bytes = all;
    },
    send: () => void (isSent = true),
    finish: () => void (isSettled = true),
    forgive: () => void (isForgiven = true),
    usage: () => (isSent && !isForgiven ? count() : usedNothing), // F1
  };
}

/** A figure as a provider wrote it: null if there is none, NaN if it is implausible. */
export function parseFigure(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  return typeof value === "number" && value >= 0 && value <= tokensMax
    ? Math.round(value)
    : Number.NaN;
}
