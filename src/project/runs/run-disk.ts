// run-disk: measures the disk space a folder uses, without following links.

import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

const blockBytes = 512;

/** What a folder takes on the disk. Follows no link; what goes away meanwhile counts nothing. */
export async function diskOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries) {
    const path = join(folder, entry.name);
    bytes += ((await lstat(path).catch(() => null))?.blocks ?? 0) * blockBytes;
    if (entry.isDirectory()) bytes += await diskOf(path);
  }
  return bytes;
}
