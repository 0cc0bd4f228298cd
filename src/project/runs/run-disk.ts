// run-disk: measures the disk space a folder uses, without following links.

import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

const blockBytes = 512;

/** The disk space of a folder. Follows no link; files that disappear meanwhile count 0. */
export async function measureDiskBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  let bytes = 0;

  for (const entry of entries) {
    const path = join(folder, entry.name);
    bytes += ((await lstat(path).catch(() => null))?.blocks ?? 0) * blockBytes;
    if (entry.isDirectory()) bytes += await measureDiskBytes(path);
  }

  return bytes;
}
