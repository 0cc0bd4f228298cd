// bounded-output: collects a command's output within bounds.
//
// Invariants:
//   O1. Memory stays below headBytesMax + tailBytesMax, the redactor's buffer, and one chunk.
//   O2. Every byte that is left after redaction is counted; the first hashBytesMax bytes are
//       hashed.
//   O3. Bytes are kept as they came. They are decoded only on reading, and then always to valid
//       text.
//   O4. Secrets are removed first: only the rest is counted, hashed and kept, wherever the chunks
//       were cut.

import { createHash } from "node:crypto";
import type { Hash } from "../contracts/ids.ts";
import { openRedactor, type Redactor } from "../kit/redact.ts";
import { openRedactedStream } from "../kit/redact-stream.ts";

export type OutputLimits = {
  readonly headBytesMax: number;
  readonly tailBytesMax: number;
  readonly hashBytesMax: number;
};

export const outputLimits: OutputLimits = {
  headBytesMax: 64 * 1024,
  tailBytesMax: 64 * 1024,
  hashBytesMax: 64 * 1024 * 1024,
};

export type Output = {
  readonly head: Buffer;
  readonly tail: Buffer;
  /** How much was written, kept or not. */
  readonly totalBytes: number;
  readonly omittedBytes: number;
  /** SHA-256 of the first `hashedBytes` bytes. */
  readonly hash: Hash;
  readonly hashedBytes: number;
};

export type OutputCollector = {
  readonly add: (chunk: Buffer) => void;
  readonly take: () => Output;
};

/** A program's output may contain a secret even if none is known by name. */
export const patternRedactor = openRedactor([]);

export function collectOutput(
  limits: OutputLimits = outputLimits,
  redactor: Redactor = patternRedactor,
): OutputCollector {
  const stream = openRedactedStream(redactor);
  const hash = createHash("sha256");
  const head: Buffer[] = [];
  let headBytes = 0;
  const tail: Buffer[] = [];
  let tailBytes = 0;
  let totalBytes = 0;
  let hashedBytes = 0;

  const keepTail = (chunk: Buffer): void => {
    tail.push(chunk);
    tailBytes += chunk.length;

    while (tail[0] !== undefined && tailBytes - tail[0].length >= limits.tailBytesMax) {
      tailBytes -= tail.shift()?.length ?? 0;
    } // O1
  };

  const keep = (chunk: Buffer): void => {
    totalBytes += chunk.length; // O2
    const toHash = chunk.subarray(0, limits.hashBytesMax - hashedBytes);
    hash.update(toHash);
    hashedBytes += toHash.length;
    const toHead = chunk.subarray(0, limits.headBytesMax - headBytes);
    if (toHead.length > 0) head.push(Buffer.from(toHead));
    headBytes += toHead.length;
    if (toHead.length < chunk.length) keepTail(Buffer.from(chunk.subarray(toHead.length)));
  };

  return {
    add: (chunk) => keep(stream.push(chunk)), // O4
    take: () => {
      keep(stream.end());
      const collectedTail = Buffer.concat(tail);
      const lastBytes = collectedTail.subarray(
        Math.max(0, collectedTail.length - limits.tailBytesMax),
      );

      return {
        head: Buffer.concat(head),
        tail: lastBytes,
        totalBytes,
        omittedBytes: totalBytes - headBytes - lastBytes.length,
        hash: hash.copy().digest("hex"),
        hashedBytes,
      };
    },
  };
}

/**
 * What is stored: the whole output if it was kept whole, else its two ends with a line between that
 * says what is missing.
 */
export function toStoredOutput(output: Output): Buffer {
  if (output.omittedBytes === 0) return Buffer.concat([output.head, output.tail]);
  const gap = `\n[autopilot: ${output.omittedBytes} of ${output.totalBytes} bytes left out; SHA-256 of the first ${output.hashedBytes}: ${output.hash}]\n`;
  return Buffer.concat([output.head, Buffer.from(gap), output.tail]);
}

/**
 * The last lines of the output as valid text: at most `linesMax` lines and `bytesMax` bytes, none
 * if there is no room for a byte.
 */
export function readLastLines(output: Output, linesMax: number, bytesMax: number): string {
  if (bytesMax <= 0) return "";
  const end = Buffer.concat([
    output.omittedBytes === 0 ? output.head : Buffer.alloc(0),
    output.tail,
  ]);
  const cut = end.subarray(Math.max(0, end.length - bytesMax));
  // A character cut in two at the front is dropped: up to three UTF-8 continuation bytes, which
  // begin with the bits 10.
  let skipBytes = 0;
  while (cut.length < end.length && skipBytes < 3 && ((cut[skipBytes] ?? 0) & 0xc0) === 0x80) {
    skipBytes++;
  }

  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const lines = decoder.decode(cut.subarray(skipBytes)).trimEnd().split("\n"); // O3
  return fitBytes(lines.slice(-linesMax).join("\n"), bytesMax);
}

/**
 * The end of a text in at most `bytesMax` bytes; replacement characters are longer than the bytes
 * they replace.
 */
function fitBytes(text: string, bytesMax: number): string {
  let shortened = text;
  while (Buffer.byteLength(shortened) > bytesMax) {
    const excessBytes = Buffer.byteLength(shortened) - bytesMax;
    // A UTF-16 unit takes at most three bytes; half a surrogate pair is not left at the front.
    shortened = shortened.slice(Math.ceil(excessBytes / 3)).replace(/^[\udc00-\udfff]/, "");
  }

  return shortened;
}
