// index-file: reads a git index without git, to answer one question: whether a name may be in it at all.

import { closeSync, openSync, readSync } from "node:fs";

const chunkBytes = 1 << 16;
const headBytes = 12;

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
      if (isFirst && !/^DIRC\0\0\0[\x02\x03]/.test(text)) return true;
      if (pattern.test(text) || text.includes(splitExtension)) return true;
      isFirst = false;
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

/** Marks an index whose paths are in another file. The letters may also be in a path; then git is asked, which is harmless. */
const splitExtension = "link\0\0\0";
