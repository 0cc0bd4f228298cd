// index-file: reads a git index without git, to answer one question: whether a word may be in a
// tracked path at all.

import { closeSync, openSync, readSync } from "node:fs";

const chunkBytes = 1 << 16;
/**
 * How much of a chunk is kept for the next one at least, so that no mark is missed that begins in
 * one and ends in the other.
 */
const overlapBytesMin = 12;
/**
 * How the parts of an index begin that say that some paths are elsewhere: in another file (`link`),
 * or below a folder that is one entry (`sdir`, a sparse index). A name and the first byte of a
 * length; a path may end like that too, then git is asked, which is harmless.
 */
const elsewhereMarks = ["link\0", "sdir\0"];
/** An index of version 2 or 3. Version 4 shortens paths. */
const plainIndexHead = /^DIRC\0\0\0[\x02\x03]/;

/**
 * Whether any tracked path may contain this word, ignoring case. A no is certain: the paths are
 * stored literally. If they are not (another version, a split or sparse index, unreadable), the
 * answer is yes.
 */
export function mayTrack(index: string, word: string): boolean {
  const pattern = new RegExp(word.replaceAll(/[^\w]/g, String.raw`\$&`), "i");
  let fd: number;

  try {
    fd = openSync(index, "r");
  } catch {
    return true;
  }

  try {
    const buffer = Buffer.allocUnsafe(chunkBytes);
    let keptBytes = 0;
    let isFirst = true;

    for (
      let read = readSync(fd, buffer, 0, chunkBytes, null);
      read > 0;
      read = readSync(fd, buffer, keptBytes, chunkBytes - keptBytes, null)
    ) {
      const text = buffer.toString("latin1", 0, keptBytes + read);
      if (isFirst && !plainIndexHead.test(text)) return true;
      if (pattern.test(text) || elsewhereMarks.some((mark) => text.includes(mark))) return true;
      isFirst = false;
      // The end of this chunk is kept, since the word may begin in it and go on in the next one.
      const overlapBytes = Math.min(keptBytes + read, Math.max(word.length, overlapBytesMin));
      buffer.copy(buffer, 0, keptBytes + read - overlapBytes, keptBytes + read);
      keptBytes = overlapBytes;
    }

    return isFirst; // an empty file is no index
  } catch {
    return true;
  } finally {
    closeSync(fd);
  }
}
