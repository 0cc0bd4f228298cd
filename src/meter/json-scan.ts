// json-scan: scans streaming JSON: keeps only the few requested values, and counts the bytes of the
// strings that are text. One pass and one long loop over local variables, because whole
// conversations go through here.
//
// Invariants:
//   J1. Chunk boundaries change nothing.
//   J2. A value is found by its path of keys, never by its form: untrusted text cannot pass for a
//       figure.
//   J3. Memory is bounded.

import { hashName, hashPrime, hashStart, type KeyNode, buildKeyTree } from "./key-tree.ts";
import { captureBytesMax } from "./limits.ts";

export type JsonScanOptions = {
  /** Paths of keys through objects; arrays in between do not count. `["choices", "usage"]`. */
  readonly values: readonly (readonly string[])[];
  /** Keys whose strings are text. */
  readonly texts: readonly string[];
  /**
   * Keys whose strings are files or images: the part beyond `attachmentBytesMax` of each is counted
   * separately.
   */
  readonly attachments?: readonly string[];
  readonly attachmentBytesMax?: number;
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

const quote = 34;
const comma = 44;
const colon = 58;
const openArray = 91;
const backslash = 92;
const closeArray = 93;
const openObject = 123;
const closeObject = 125;
/** No requested path is deeper. */
const depthKept = 8;
/** The end of a longer string is found by a native search. */
const probeBytes = 24;

/** A requested value that is being collected. A word is a number, true, false or null. */
type Capture = {
  readonly path: readonly string[];
  readonly kind: "string" | "object" | "word";
  readonly depth: number;
  readonly position: number;
};
/** What a string is, which decides how its bytes count. */
type StringKind = "key" | "plain" | "text" | "attachment";

export function openJsonScan(options: JsonScanOptions): JsonScan {
  const root = buildKeyTree(options.values);
  const texts = new Set(options.texts.map(hashName));
  const attachments = new Set((options.attachments ?? []).map(hashName));
  const attachmentMax = options.attachmentBytesMax ?? Infinity;
  // The hash of the latest key at each depth, and the node of the object at each depth in the tree
  // of requested paths.
  const keys = new Int32Array(depthKept + 1);
  const nodes: (KeyNode | null)[] = Array.from({ length: depthKept + 1 }, () => null);

  let fedBytes = 0;
  let textBytes = 0;
  let attachmentBytes = 0;
  let stringBytes = 0;

  // State that the loop below keeps in local variables while it runs.
  let state = {
    depth: 0,
    key: 0,
    hash: hashStart,
    isAfterColon: false,
    isInString: false,
    isEscaped: false,
    hasEscape: false,
  };

  let kind: StringKind = "plain";
  let capture: Capture | null = null;
  let captured: Buffer[] = [];
  let capturedBytes = 0;

  function beginCapture(
    path: readonly string[],
    captureKind: Capture["kind"],
    depth: number,
    position: number,
  ): void {
    capture = { path, kind: captureKind, depth, position };
    captured = [];
    capturedBytes = 0;
  }

  function appendCapture(part: Buffer): void {
    capturedBytes += part.length;
    if (capturedBytes <= captureBytesMax) return void captured.push(Buffer.from(part));
    capture = null; // J3
    captured = [];
  }

  function finishCapture(part: Buffer): void {
    appendCapture(part);
    if (capture === null) return;
    const { path, position } = capture;
    const text = Buffer.concat(captured).toString("utf8");
    capture = null;
    captured = [];
    options.onValue(path, text, position);
  }

  /** The node of the value after the latest key in the tree of requested paths. */
  function findNodeAt(depth: number): KeyNode | null {
    if (depth === 0 || depth > depthKept) return null;
    return nodes[depth]?.next.get(keys[depth] as number) ?? null;
  }

  /**
   * The requested path that ends at the value after the latest key; null inside of a value that is
   * being collected.
   */
  function findPathAt(depth: number): readonly string[] | null {
    return capture === null ? (findNodeAt(depth)?.path ?? null) : null; // J2
  }

  function findStringKind(key: number): StringKind {
    if (texts.has(key)) return "text";
    return attachments.has(key) ? "attachment" : "plain";
  }

  function count(bytes: number): void {
    if (kind === "text") textBytes += bytes;
    if (kind !== "attachment") return;
    stringBytes += bytes;

    if (stringBytes > attachmentMax) {
      attachmentBytes += Math.min(bytes, stringBytes - attachmentMax);
    }
  }

  function feed(chunk: Buffer): void {
    const length = chunk.length;
    let { depth, key, hash, isAfterColon, isInString, isEscaped, hasEscape } = state;
    let captureFrom = 0;
    let position = 0;
    while (position < length) {
      if (isInString) {
        const from = position;
        if (isEscaped) {
          isEscaped = false;
          position++;
        }

        if (kind === "key") {
          let byte = 0;
          while (
            position < length &&
            (byte = chunk[position] as number) !== quote &&
            byte !== backslash
          ) {
            hash = Math.imul(hash ^ byte, hashPrime);
            position++;
          }

          if (position < length && byte === backslash) {
            isEscaped = true;
            hasEscape = true;
            position++;
            continue;
          }
        } else {
          position = findStringEnd(chunk, position);
          count(Math.min(position, length) - from);
          if (position > length) isEscaped = true;
        }

        if (position >= length) break;
        position++;
        isInString = false;
        isAfterColon = false;

        if (capture !== null && capture.kind === "string") {
          finishCapture(chunk.subarray(captureFrom, position));
        }

        continue;
      }

      const byte = chunk[position] as number;
      if (capture !== null && capture.kind === "word" && isWordEnd(byte)) {
        finishCapture(chunk.subarray(captureFrom, position));
      }

      if (byte === quote) {
        isInString = true;
        hash = hashStart;
        hasEscape = false;
        stringBytes = 0;
        kind = isAfterColon ? findStringKind(key) : "key";
        const path = isAfterColon ? findPathAt(depth) : null;
        if (path !== null) {
          beginCapture(path, "string", depth, fedBytes + position);
          captureFrom = position;
        }
      } else if (byte === colon) {
        isAfterColon = depth > 0;
        key = hash;
        if (depth <= depthKept) keys[depth] = hash;
        if (hasEscape && depth === 1) options.onDisguise?.();
      } else if (byte === openObject) {
        const path = isAfterColon ? findPathAt(depth) : null;
        if (path !== null) {
          beginCapture(path, "object", depth, fedBytes + position);
          captureFrom = position;
        }

        const node = depth === 0 ? root : findNodeAt(depth);
        depth++;
        if (depth <= depthKept) nodes[depth] = node;
        isAfterColon = false;
      } else if (byte === closeObject) {
        depth = Math.max(0, depth - 1);
        isAfterColon = false;

        if (capture !== null && capture.kind === "object" && capture.depth === depth) {
          finishCapture(chunk.subarray(captureFrom, position + 1));
        }
      } else if (byte === comma || byte === openArray || byte === closeArray) {
        isAfterColon = false; // Objects in an array have the node of the array.
      } else if (isAfterColon && byte > 32) {
        isAfterColon = false;
        const path = findPathAt(depth);
        if (path !== null) {
          beginCapture(path, "word", depth, fedBytes + position);
          captureFrom = position;
        }
      }

      position++;
    }

    if (capture !== null) appendCapture(chunk.subarray(captureFrom, length)); // J1
    state = { depth, key, hash, isAfterColon, isInString, isEscaped, hasEscape };
    fedBytes += length;
  }

  return {
    feed,
    bytes: () => fedBytes,
    textBytes: () => textBytes,
    attachmentBytes: () => attachmentBytes,
  };
}

const isWordEnd = (byte: number): boolean =>
  byte <= 32 || byte === comma || byte === closeObject || byte === closeArray;

/**
 * The position of the quote that ends a string; the chunk's length if it does not end in it, one
 * more if the next character is escaped.
 */
function findStringEnd(chunk: Buffer, from: number): number {
  const length = chunk.length;
  let start = from;

  for (;;) {
    // Most strings are short, and end before a search pays off.
    const probeEnd = Math.min(length, start + probeBytes);
    let end = start;
    while (end < probeEnd && chunk[end] !== quote) end++;
    if (end === probeEnd && end < length) {
      const next = chunk.indexOf(quote, probeEnd);
      end = next === -1 ? length : next;
    }

    let backslashStart = end;
    while (backslashStart > from && chunk[backslashStart - 1] === backslash) backslashStart--;
    const isEscaped = (end - backslashStart) % 2 === 1;
    if (end >= length) return isEscaped ? length + 1 : length;
    if (!isEscaped) return end;
    start = end + 1;
  }
}
