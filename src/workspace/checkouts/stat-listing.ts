// stat-listing: the stat data of a copied checkout's files when it was created, so that changes are
// found without reading the rest.
//
// Invariants:
//   L1. A file counts as unchanged only if its inode, size, mode, links, mtime and ctime are the
//       same. No ordinary process can set a ctime back; if a test shows that the file system has
//       none, there is no listing and everything is read.
//   L2. The file system's clock has advanced before the first write, so that an immediate change
//       shows too.

import { lstatSync, type Stats, utimesSync, writeFileSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { tickMs } from "../bases/sealed-folder.ts";
import { type BytePath, toDiskPath } from "../git/byte-path.ts";

export type UnchangedTest = (path: BytePath, stat: Stats) => boolean;

/** After so many files other work of this process gets its turn. */
const filesAtOnce = 500;

const toStatsKey = ({ ino, size, mode, nlink, mtimeMs, ctimeMs }: Stats): string =>
  [ino, size, mode, nlink, mtimeMs, ctimeMs].join(" ");
const listingPath = (place: string): string => join(place, "listing");

/** Records the files' stat data of a folder; nothing has been written there yet. */
export async function writeListing(
  place: string,
  folder: string,
  paths: Iterable<BytePath>,
): Promise<void> {
  await mkdir(place, { recursive: true, mode: 0o700 });
  if (!(await keepsChangeTimes(place))) return; // L1
  const rows: string[] = [];

  for (const path of paths) {
    const stat = lstatSync(toDiskPath(folder, path), { throwIfNoEntry: false });
    if (stat !== undefined && !stat.isDirectory()) rows.push(`${toStatsKey(stat)}\t${path}\0`);
    if (rows.length % filesAtOnce === 0) await setImmediate();
  }

  await writeFile(listingPath(place), rows.join(""), "latin1");
  await sleep(tickMs); // L2
}

/** Whether this file system records ctimes that a process cannot set back. L1 */
async function keepsChangeTimes(place: string): Promise<boolean> {
  const probe = join(place, "probe");
  writeFileSync(probe, "a");
  const firstStat = lstatSync(probe);
  await sleep(tickMs);
  writeFileSync(probe, "b");
  utimesSync(probe, firstStat.atime, firstStat.mtime);
  const hasAdvanced = lstatSync(probe).ctimeMs > firstStat.ctimeMs;
  await rm(probe);

  return hasAdvanced;
}

/** Which files of the checkout are unchanged; null if that was not recorded. */
export async function readListing(place: string): Promise<UnchangedTest | null> {
  const text = await readFile(listingPath(place), "latin1").catch(() => null);
  if (text === null) return null;
  const statsByPath = new Map<string, string>();

  for (const row of text.split("\0")) {
    const tab = row.indexOf("\t");
    if (tab > 0) statsByPath.set(row.slice(tab + 1), row.slice(0, tab));
  }

  return (path, stat) => statsByPath.get(path) === toStatsKey(stat);
}
