// value-capture: collects the bytes of one requested value, which may come in several chunks.

import { captureBytesMax } from "./limits.ts";

/** A word is a number, true, false or null. */
export type CapturedKind = "string" | "object" | "word";

export type CapturedValue = {
  /** The requested path that led to it. */
  readonly path: readonly string[];
  readonly kind: CapturedKind;
  /** How many objects were open where it begins. */
  readonly depth: number;
  /** Where it begins, counted from the first byte of all chunks. */
  readonly position: number;
};

export type ValueCapture = {
  /** The value that is being collected; null if there is none. */
  readonly current: () => CapturedValue | null;
  /** `from`: where the value begins in the current chunk. */
  readonly begin: (value: CapturedValue, from: number) => void;
  /** The value ends in this chunk, before `end`. */
  readonly finish: (chunk: Buffer, end: number) => void;
  /** The value, if there is one, goes on in the next chunk. */
  readonly endChunk: (chunk: Buffer) => void;
};

/** A value of more than `captureBytesMax` bytes is given up, and not reported. */
export function openValueCapture(
  onValue: (path: readonly string[], text: string, position: number) => void,
): ValueCapture {
  let current: CapturedValue | null = null;
  let parts: Buffer[] = [];
  let bytes = 0;
  /** Where the part in the current chunk begins. */
  let partStart = 0;

  function addPart(part: Buffer): void {
    bytes += part.length;
    if (bytes <= captureBytesMax) parts.push(Buffer.from(part));
    else giveUp();
  }

  function giveUp(): void {
    current = null;
    parts = [];
  }

  return {
    current: () => current,
    begin: (value, from) => {
      current = value;
      parts = [];
      bytes = 0;
      partStart = from;
    },
    finish: (chunk, end) => {
      addPart(chunk.subarray(partStart, end));
      if (current === null) return;
      const { path, position } = current;
      const text = Buffer.concat(parts).toString("utf8");
      giveUp();
      onValue(path, text, position);
    },
    endChunk: (chunk) => {
      if (current !== null) addPart(chunk.subarray(partStart));
      partStart = 0;
    },
  };
}
