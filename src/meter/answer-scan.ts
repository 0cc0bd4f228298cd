// answer-scan: reads a provider's answer on its way to the agent: figures, the end, and errors.

import type { ModelApi } from "../contracts/model-api.ts";
import { type Dialect, dialects, parseJsonRecord, asRecord, findValue } from "./dialects.ts";
import { openEventScan } from "./event-scan.ts";
import type { UsageCounter } from "./call-usage.ts";
import { openJsonScan } from "./json-scan.ts";
import { bytesAfterEndMax } from "./limits.ts";

export type AnswerScan = {
  readonly feed: (chunk: Buffer) => void;
  /** The model has finished, only the transfer remains; false again if far too much follows. */
  readonly hasEnded: () => boolean;
  /** The error in a stream or in an answer that began as a success; null if there is none. */
  readonly error: () => Readonly<Record<string, unknown>> | null;
  /**
   * Of the last chunk, the bytes up to the end of its last complete event; 0 if no event ends in
   * it.
   */
  readonly wholeEventBytes: () => number;
  /** No incomplete event was fed. */
  readonly isBetweenEvents: () => boolean;
};

export function openAnswerScan(
  api: ModelApi,
  kind: "json" | "events",
  usageCounter: UsageCounter,
): AnswerScan {
  const dialect = dialects[api];
  const state: StreamState = { endedAtByte: null, error: null };
  const scan =
    kind === "events"
      ? scanEvents(dialect, usageCounter, state)
      : scanJson(dialect, usageCounter, state);
  let bytesBefore = 0;

  return {
    feed: (chunk) => {
      bytesBefore = scan.bytes();
      scan.feed(chunk);
      usageCounter.setStreamed(scan.textBytes(), scan.bytes());
      if (state.endedAtByte !== null) usageCounter.finish();
    },
    hasEnded: () =>
      state.endedAtByte !== null && scan.bytes() - state.endedAtByte < bytesAfterEndMax,
    error: () => state.error,
    wholeEventBytes: () => Math.max(0, scan.lastEventEnd() - bytesBefore),
    isBetweenEvents: () => scan.lastEventEnd() === scan.bytes(),
  };
}

/** What the scan has found so far; `endedAtByte` is counted from the first byte fed. */
type StreamState = { endedAtByte: number | null; error: Readonly<Record<string, unknown>> | null };
type Scan = {
  readonly feed: (chunk: Buffer) => void;
  readonly bytes: () => number;
  readonly textBytes: () => number;
  readonly lastEventEnd: () => number;
};

function scanEvents(dialect: Dialect, usageCounter: UsageCounter, state: StreamState): Scan {
  const lastSegments = (paths: readonly (readonly string[])[]): readonly string[] =>
    paths.map((path) => path.at(-1) ?? "");
  const scan = openEventScan({
    texts: dialect.texts,
    marks: [...new Set([...lastSegments(dialect.usage), "error"])],
    ...(dialect.alsoMarks === undefined ? {} : { alsoMarks: dialect.alsoMarks }),
    isSumSoFar: dialect.isSumSoFar,
    onEvent: (event) => {
      const usage = dialect.usage
        .map((path) => findValue(event, path))
        .find((value) => value !== undefined);
      if (usage !== undefined) usageCounter.report(dialect.readUsage(asRecord(usage)));
      const isEnd = dialect.end.some((path) => typeof findValue(event, path) === "string");
      if (isEnd || (usage !== undefined && dialect.isLast(event))) {
        state.endedAtByte ??= scan.bytes();
      }

      const error = dialect.error
        .map((path) => findValue(event, path))
        .find((value) => value !== undefined);
      if (error !== undefined) {
        state.error ??= typeof error === "string" ? { message: error } : asRecord(error);
      }
    },
  });
  return scan;
}

function scanJson(dialect: Dialect, usageCounter: UsageCounter, state: StreamState): Scan {
  const [usage, end, error] = [dialect.usage, dialect.end, dialect.error].map(
    (paths) => new Set(paths),
  );

  const scan = openJsonScan({
    values: [...dialect.usage, ...dialect.end, ...dialect.error],
    texts: dialect.wholeTexts ?? dialect.texts,
    onValue: (path, text) => {
      if (usage?.has(path) && text.startsWith("{")) {
        usageCounter.report(dialect.readUsage(parseJsonRecord(text)));
      } else if (end?.has(path) && text.startsWith('"')) {
        state.endedAtByte ??= scan.bytes();
      } else if (error?.has(path) && text.startsWith("{")) {
        state.error ??= parseJsonRecord(text);
      } else if (error?.has(path) && text.startsWith('"')) {
        state.error ??= parseJsonRecord(`{"message":${text}}`);
      }
    },
  });

  return { ...scan, lastEventEnd: () => 0 }; // one piece: no events in it
}
