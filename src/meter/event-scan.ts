// event-scan: scans server-sent events as they stream by: counts the text in them, and returns the
// few relevant events. It searches for marks in whole chunks and parses only the events that have
// one, because every byte of every stream goes through here and nearly all of it is the model's
// text.
//
// Invariants:
//   E1. Chunk boundaries change nothing: an event is parsed when it is complete.
//   E2. A mark only says where to look. Values are read from the event's JSON, so text of a model
//       cannot pass for a figure.
//   E3. Memory is bounded, and so is what goes uncounted: an event that gets too large counts as
//       text, but for its last part.

import { eventBytesMax, uncountedBytesMax } from "./limits.ts";

export type EventScanOptions = {
  /** Keys whose strings are text. */
  readonly texts: readonly string[];
  /** Keys whose objects make an event relevant. */
  readonly marks: readonly string[];
  /** The same, as a pattern that does not end in a quote. */
  readonly alsoMarks?: string;
  /** Every event tells the sum so far: of many that come at once the last is enough. */
  readonly isSumSoFar: boolean;
  readonly onEvent: (data: unknown) => void;
};

/** The scan of one stream. */
export type EventScan = {
  readonly feed: (chunk: Buffer) => void;
  readonly bytes: () => number;
  readonly textBytes: () => number;
  /** Where the last whole event ended, counted from the first byte fed. */
  readonly lastEventEnd: () => number;
};

const quote = 34;
const backslash = 92;
const dataField = "data:";
/** White space, or the boundary of two data lines. */
const gap = `(?:\\s|${dataField})*`;

export function openEventScan(options: EventScanOptions): EventScan {
  // `"text": "` or `"usage": {`. A match of a text ends in a quote, that of a mark does not: the
  // last character distinguishes them.
  const marksPattern = new RegExp(
    `"(?:${options.texts.join("|")})":${gap}"|"(?:${options.marks.join("|")})":${gap}\\{${options.alsoMarks === undefined ? "" : `|${options.alsoMarks}`}`,
    "g",
  );

  let fedBytes = 0;
  let textBytes = 0;
  let lastEventEnd = 0;
  /** Of the current event: its pieces, their size, and its last two characters. */
  let pieces: string[] = [];
  let pendingBytes = 0;
  let lastChars = "";
  /** The current event is too large, and only waited out. */
  let isDropped = false;

  function feed(chunk: Buffer): void {
    // One character per byte: nothing is decoded, and a split character does no harm.
    const text = chunk.toString("latin1");
    const end = findEventsEnd(lastChars, text);
    fedBytes += text.length;
    if (end === 0) return bufferText(text);
    lastEventEnd = fedBytes - text.length + end;
    const events = text.slice(isDropped ? findNextStart(lastChars, text) : 0, end);
    const earlierPieces = pieces;
    pieces = [];
    pendingBytes = 0;
    isDropped = false;
    lastChars = "";
    scanEvents(earlierPieces.length === 0 ? events : earlierPieces.join("") + events); // E1
    bufferText(text.slice(end));
  }

  function bufferText(text: string): void {
    lastChars = (lastChars + text.slice(-2)).slice(-2);
    pendingBytes += text.length;
    if (!isDropped && text.length > 0) pieces.push(text);
    if (pendingBytes <= eventBytesMax) return;
    textBytes += pendingBytes; // E3
    pendingBytes = 0;
    pieces = [];
    isDropped = true;
  }

  function scanEvents(whole: string): void {
    let lastMark = -1;
    let parsedUntil = 0;
    marksPattern.lastIndex = 0;

    while (marksPattern.test(whole)) {
      const matchEnd = marksPattern.lastIndex;
      if (whole.charCodeAt(matchEnd - 1) === quote) {
        const end = findStringEnd(whole, matchEnd);
        textBytes += end - matchEnd;
        marksPattern.lastIndex = end;
        continue;
      }

      lastMark = matchEnd;
      if (options.isSumSoFar || matchEnd <= parsedUntil) continue; // one event may have several marks
      parsedUntil = parseEventAt(whole, matchEnd);
    }

    if (options.isSumSoFar && lastMark !== -1) parseEventAt(whole, lastMark);
  }

  /** Parses the event around this position; returns where it ends. */
  function parseEventAt(whole: string, position: number): number {
    const start =
      Math.max(whole.lastIndexOf("\n\n", position), whole.lastIndexOf("\n\r\n", position)) + 1;
    const ends = [whole.indexOf("\n\n", position), whole.indexOf("\n\r\n", position)].filter(
      (end) => end !== -1,
    );
    const end = ends.length === 0 ? whole.length : Math.min(...ends);
    const lines = whole.slice(start, end).split("\n");
    const data = lines
      .filter((line) => line.startsWith(dataField))
      .map((line) => line.slice(dataField.length));

    try {
      options.onEvent(JSON.parse(Buffer.from(data.join("\n"), "latin1").toString("utf8"))); // E2
    } catch {
      // An event that isn't JSON is ignored: `data: [DONE]`.
    }

    return end;
  }

  return {
    feed,
    bytes: () => fedBytes,
    textBytes: () => textBytes + (pendingBytes > uncountedBytesMax ? pendingBytes : 0), // E3
    lastEventEnd: () => lastEventEnd,
  };
}

/**
 * Where the last complete event in this text ends, after its empty line; 0 if none does.
 * `lastChars` came before the text.
 */
function findEventsEnd(lastChars: string, text: string): number {
  const lineFeeds = text.lastIndexOf("\n\n");
  if (lineFeeds !== -1) return lineFeeds + 2;
  const carriageReturns = text.lastIndexOf("\n\r\n");
  if (carriageReturns !== -1) return carriageReturns + 3;
  if (lastChars === "") return 0;
  // The empty line may span the boundary.
  const across = /\n\r?\n/.exec(lastChars + text.slice(0, 2));

  return across === null ? 0 : across.index + across[0].length - lastChars.length;
}

/** Where the first event that begins in this text begins. */
function findNextStart(lastChars: string, text: string): number {
  const match = /\n\r?\n/.exec(lastChars + text);
  return match === null
    ? text.length
    : Math.max(0, match.index + match[0].length - lastChars.length);
}

/** The position of the quote that ends the string; the text's length if there is none. */
function findStringEnd(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashStart = end;
    while (text.charCodeAt(backslashStart - 1) === backslash && backslashStart > from) {
      backslashStart--;
    }

    if ((end - backslashStart) % 2 === 0) return end; // an odd number of backslashes escapes the quote
  }

  return text.length;
}
