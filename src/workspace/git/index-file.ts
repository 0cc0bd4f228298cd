// index-file: reads a git index without git, to answer one question: whether a word may be in a tracked path at all.

import { closeSync, openSync, readSync } from "node:fs";

const chunkBytes = 1 << 16;
const headBytes = 12;
/** The mark of an index whose paths are in another file. The same letters may be in a path; then git is asked, which is harmless. */
const splitIndexMark = "link\0\0\0";
/** An index of version 2 or 3. Version 4 shortens paths. */
const plainIndexHead = /^DIRC\0\0\0[\x02\x03]/;

/**
 * Whether any tracked path may contain this word, ignoring case. A no is certain: the paths are stored literally. If they are not (another
 * version, a split index, unreadable), the answer is yes.
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
      if (pattern.test(text) || text.includes(splitIndexMark)) return true;
      isFirst = false;
      // The end of this chunk is kept, since the word may begin in it and go on in the next one.
      const overlapBytes = Math.min(keptBytes + read, Math.max(word.length, headBytes));
      buffer.copy(buffer, 0, keptBytes + read - overlapBytes, keptBytes + read);
      keptBytes = overlapBytes;
    }
    return isFirst;
  } catch {
    return true;
  } finally {
    closeSync(fd);
  }
}
