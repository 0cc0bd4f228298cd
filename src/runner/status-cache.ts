// status-cache: reads the cached status that a long run's owner keeps beside the journal, so that
// `status` need not fold all of it.
//
// Invariants:
//   Y1. The cache is valid only for exactly the journal it was made from: length and last line are
//       compared. In doubt it is ignored.
//   Y2. It is written after acknowledgements, never before one, and losing it loses nothing.

import { readSync } from "node:fs";
import { join } from "node:path";
import type { ReasonCode } from "../contracts/reason.ts";
import { readOwnFile, withOwnFile } from "../project/own-file.ts";
import { product } from "../project/runs/product.ts";
import { sha256 } from "../project/sha256.ts";

export const statusCacheFile = "status.json";
/**
 * The journal size from which a cache is worth it: a shorter journal is folded as quickly as the
 * cache is read.
 */
export const cachedBytesMin = 400_000;
const cacheBytesMax = 8 * 1_048_576;
const lineBytesMax = 256 * 1024;
const lineFeed = 10;

export type StatusSummary = {
  readonly reason_code: ReasonCode;
  readonly state: string;
  readonly page: readonly string[];
  /** The page that -v asks for. */
  readonly whole: readonly string[];
  readonly data: Readonly<Record<string, unknown>>;
};

/**
 * The cache file. `rested`: the status while no process owns the run; `owned`: while the process
 * that wrote it does.
 */
export type CachedStatus = {
  readonly product: string;
  readonly byte: number;
  readonly prev: string;
  readonly pid: number;
  readonly rested: StatusSummary;
  readonly owned: StatusSummary;
};

/** Reads the cached status; null if it was not written for this very journal and owner. */
export function readCachedStatus(
  folder: string,
  owner: { readonly pid: number } | null,
): StatusSummary | null {
  try {
    const path = join(folder, statusCacheFile);
    const text = readOwnFile(path, cacheBytesMax) ?? "";
    if (text === "") return null;
    const cached = JSON.parse(text) as Partial<CachedStatus>;
    if (cached.product !== product || !isCurrent(folder, cached)) return null; // Y1
    if (owner === null) return cached.rested ?? null;

    return owner.pid === cached.pid ? (cached.owned ?? null) : null;
  } catch {
    return null; // it is being written, or was never whole: the journal is used instead
  }
}

/** Whether the journal ends with the line after which the cache was written. */
function isCurrent(folder: string, { byte, prev }: Partial<CachedStatus>): boolean {
  const isEnd = withOwnFile(join(folder, "journal.jsonl"), (fd, size) => {
    if (size !== byte) return false;
    const bytes = Buffer.alloc(Math.min(size, lineBytesMax));
    const read = readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    if (read !== bytes.length || bytes.at(-1) !== lineFeed) return false;
    const lineStart = bytes.lastIndexOf(lineFeed, bytes.length - 2) + 1;
    if (lineStart === 0 && bytes.length < size) return false; // the line is longer than what was read
    const lastLine = bytes.subarray(lineStart, bytes.length - 1);

    return sha256(lastLine) === prev;
  });
  return isEnd ?? false;
}
