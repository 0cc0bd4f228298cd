// chain-check: checks a section of a journal by its bytes alone: every line intact and chained to
// the one before.

import { hash } from "node:crypto";
import { readSync } from "node:fs";
import type { Hash } from "../contracts/ids.ts";
import { toByteView } from "./batch.ts";
import { continues, findLineFault, lineBytesMax, lineFeed } from "./line.ts";

const chunkBytes = 128 * 1024;

/** A section of a journal: whole lines, of which the first continues the line with this hash. */
export type Section = {
  readonly fd: number;
  readonly startByte: number;
  readonly endByte: number;
  readonly previousHash: Hash;
};

/**
 * Whether every line of the section is intact and chained to the one before, by its bytes alone;
 * the content is checked elsewhere. Asks before each read whether to continue, and returns null if
 * not.
 */
export function isSound(
  { fd, startByte, endByte, previousHash }: Section,
  shouldContinue: () => boolean,
): boolean | null {
  const buffer = Buffer.allocUnsafeSlow(
    Math.min(chunkBytes + lineBytesMax + 1, endByte - startByte),
  );
  let lastHash = previousHash;
  let carried = 0;

  for (let readTo = startByte; readTo < endByte;) {
    if (!shouldContinue()) return null;
    const read = readSync(
      fd,
      buffer,
      carried,
      Math.min(chunkBytes, endByte - readTo, buffer.length - carried),
      readTo,
    );
    if (read === 0) return false;
    readTo += read;
    const filled = carried + read;
    const lastEnd = buffer.lastIndexOf(lineFeed, filled - 1);
    let start = 0;
    while (start <= lastEnd) {
      const end = buffer.indexOf(lineFeed, start);
      if (findLineFault(buffer, start, end) !== null || !continues(buffer, end, lastHash)) {
        return false;
      }

      lastHash = hash("sha256", toByteView(buffer, start, end));
      start = end + 1;
    }

    carried = filled - start;
    if (carried > lineBytesMax) return false;
    buffer.copyWithin(0, start, filled);
  }

  return carried === 0;
}
