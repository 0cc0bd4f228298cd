// json-scan: scans streaming JSON: keeps only the few requested values, and counts the bytes of the
// strings that are text. A scan is always inside a key, inside another string, or in the structure
// between strings; each of them has one function, which reads as far as it lasts and returns the
// position behind it.
//
// Invariants:
//   J1. Chunk boundaries change nothing.
//   J2. A value is found by its path of keys, never by its form: untrusted text cannot pass for a
//       figure.
//   J3. Memory is bounded.

import { openKeyPath } from "./key-path.ts";
import { hashBytes, hashStart } from "./key-tree.ts";
import { openStringSizes, type StringSizeOptions } from "./string-sizes.ts";
import { type CapturedKind, openValueCapture } from "./value-capture.ts";

export type JsonScanOptions = StringSizeOptions & {
  /** Paths of keys through objects; arrays in between do not count. `["choices", "usage"]`. */
  readonly values: readonly (readonly string[])[];
  /**
   * `path` is the requested one, as given. `position` is where the value begins, counted from the
   * first byte fed.
   */
  readonly onValue: (path: readonly string[], text: string, position: number) => void;
  /** A key of the outermost object is written with an escape, so that its name is not literal. */
  readonly onDisguise?: () => void;
};

export type JsonScan = {
  readonly feed: (chunk: Buffer) => void;
  readonly bytes: () => number;
  readonly textBytes: () => number;
  readonly attachmentBytes: () => number;
};

const space = 32;
const quote = 34;
const comma = 44;
const colon = 58;
const openArray = 91;
const backslash = 92;
const closeArray = 93;
const openObject = 123;
const closeObject = 125;
/** The end of a longer string is found by a native search. */
const probeBytes = 24;

export function openJsonScan(options: JsonScanOptions): JsonScan {
  const keyPath = openKeyPath(options.values);
  const capture = openValueCapture(options.onValue); // J3
  const sizes = openStringSizes(options);
  let fedBytes = 0;

  // All of this outlives a chunk (J1).
  /** What the next byte belongs to. A string that follows no colon is read as a key. */
  let inside: "structure" | "key" | "string" = "structure";
  let isAfterColon = false;
  /** The next byte of a string follows a backslash. */
  let isEscaped = false;
  /** The hash of the key that is being read, or was read last, and whether it has an escape. */
  let keyHash = hashStart;
  let hasKeyEscape = false;

  function feed(chunk: Buffer): void {
    let position = 0;
    while (position < chunk.length) {
      if (inside === "structure") position = readStructure(chunk, position);
      else if (inside === "key") position = readKey(chunk, position);
      else position = readString(chunk, position);
    }

    capture.endChunk(chunk); // J1
    fedBytes += chunk.length;
  }

  /** Reads up to the next string, and its opening quote. */
  function readStructure(chunk: Buffer, from: number): number {
    for (let position = from; position < chunk.length; position++) {
      const byte = chunk[position] as number;
      if (isWordEnd(byte) && capture.current()?.kind === "word") capture.finish(chunk, position);

      if (byte === quote) {
        beginString(position);
        return position + 1;
      }

      readMark(chunk, position, byte);
    }

    return chunk.length;
  }

  function beginString(position: number): void {
    keyHash = hashStart;
    hasKeyEscape = false;

    if (isAfterColon) {
      inside = "string";
      sizes.begin(keyPath.key());
      captureIfRequested("string", position);
    } else {
      inside = "key";
    }

    isAfterColon = false;
  }

  /** Reads one byte that belongs to no string. */
  function readMark(chunk: Buffer, position: number, byte: number): void {
    if (byte === colon) {
      endKey();
    } else if (byte === openObject) {
      if (isAfterColon) captureIfRequested("object", position);
      keyPath.enterObject();
      isAfterColon = false;
    } else if (byte === closeObject) {
      keyPath.leaveObject();
      isAfterColon = false;
      finishObject(chunk, position + 1);
    } else if (byte === comma || byte === openArray || byte === closeArray) {
      isAfterColon = false;
    } else if (isAfterColon && byte > space) {
      captureIfRequested("word", position);
      isAfterColon = false;
    }
  }

  function endKey(): void {
    keyPath.setKey(keyHash);
    isAfterColon = keyPath.depth() > 0;
    if (hasKeyEscape && keyPath.depth() === 1) options.onDisguise?.();
  }

  /** Begins to collect the value at this position, unless it is part of one that is collected. */
  function captureIfRequested(kind: CapturedKind, position: number): void {
    const path = capture.current() === null ? keyPath.requestedPath() : null; // J2
    if (path === null) return;
    capture.begin({ path, kind, depth: keyPath.depth(), position: fedBytes + position }, position);
  }

  function finishObject(chunk: Buffer, end: number): void {
    const value = capture.current();
    if (value?.kind === "object" && value.depth === keyPath.depth()) capture.finish(chunk, end);
  }

  /** Reads up to the next backslash, or the quote that ends the key. */
  function readKey(chunk: Buffer, from: number): number {
    const start = isEscaped ? from + 1 : from;
    const end = findKeyEnd(chunk, start);
    keyHash = hashBytes(keyHash, chunk, start, end);
    isEscaped = chunk[end] === backslash;
    if (isEscaped) hasKeyEscape = true;
    if (chunk[end] === quote) inside = "structure";
    return Math.min(end + 1, chunk.length);
  }

  function readString(chunk: Buffer, from: number): number {
    const start = isEscaped ? from + 1 : from;
    const end = findStringEnd(chunk, start);
    sizes.add(end - from);

    if (end === chunk.length) {
      isEscaped = isEscapedAt(chunk, start, end);
      return end;
    }

    isEscaped = false;
    inside = "structure";
    if (capture.current()?.kind === "string") capture.finish(chunk, end + 1);
    return end + 1;
  }

  return {
    feed,
    bytes: () => fedBytes,
    textBytes: sizes.textBytes,
    attachmentBytes: sizes.attachmentBytes,
  };
}

const isWordEnd = (byte: number): boolean =>
  byte <= space || byte === comma || byte === closeObject || byte === closeArray;

/** The position of the next quote or backslash; the chunk's length if there is none. */
function findKeyEnd(chunk: Buffer, from: number): number {
  let end = from;
  while (end < chunk.length && chunk[end] !== quote && chunk[end] !== backslash) end++;
  return end;
}

/** The position of the quote that ends a string; the chunk's length if the string goes on. */
function findStringEnd(chunk: Buffer, from: number): number {
  let end = findQuote(chunk, from);
  while (end < chunk.length && isEscapedAt(chunk, from, end)) end = findQuote(chunk, end + 1);
  return end;
}

/** The position of the next quote; the chunk's length if there is none. */
function findQuote(chunk: Buffer, from: number): number {
  // Most strings are short, and end before a native search pays off.
  const probeEnd = Math.min(chunk.length, from + probeBytes);
  for (let position = from; position < probeEnd; position++) {
    if (chunk[position] === quote) return position;
  }

  const found = chunk.indexOf(quote, probeEnd);
  return found === -1 ? chunk.length : found;
}

/** Whether an odd number of backslashes is before this position, in a string begun at `from`. */
function isEscapedAt(chunk: Buffer, from: number, position: number): boolean {
  let backslashStart = position;
  while (backslashStart > from && chunk[backslashStart - 1] === backslash) backslashStart--;
  return (position - backslashStart) % 2 === 1;
}
