// write-status-cache: keeps the status cache of a long run up to date, shortly after each change.
// Invariants Y1 and on: runner/status-cache.ts.

import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunView } from "../core/state.ts";
import type { Position } from "../journal/journal.ts";
import { product } from "../project/runs/product.ts";
import { type CachedStatus, statusCacheFile, cachedBytesMin } from "./status-cache.ts";

const writeDelayMs = 300;

export type StatusCacheParts = {
  readonly folder: string;
  readonly view: () => RunView;
  readonly position: () => Readonly<Position>;
};
export type StatusCache = {
  /** An entry was acknowledged (Y2). */
  readonly onEntry: () => void;
  /** Writes the cache a last time. */
  readonly close: () => Promise<void>;
};

/**
 * Writes the status cache of a long run, a little after each change, without delaying the writers.
 */
export function openStatusCache(parts: StatusCacheParts): StatusCache {
  let timer: NodeJS.Timeout | null = null;
  let isStale = false;

  const writeLater = (): void => {
    timer ??= setTimeout(() => {
      timer = null;
      void writeCache(parts).then(
        (isWritten) => {
          isStale = !isWritten;
        },
        () => undefined, // it stays stale, and ends no run
      );
    }, writeDelayMs).unref();
  };

  return {
    onEntry: () => {
      isStale = true;
      if (parts.position().byte >= cachedBytesMin) writeLater();
    },
    close: async () => {
      if (timer !== null) clearTimeout(timer);
      if (isStale) await writeCache(parts);
    },
  };
}

/** Writes the cache now. False if the state is behind the journal: the next change writes it. */
async function writeCache({ folder, view, position }: StatusCacheParts): Promise<boolean> {
  if (position().byte < cachedBytesMin) return true;
  const { summarizeStatus } = await import("./status-summary.ts"); // a short run never needs it
  const { seq, byte, prev } = position();
  if (view().seq !== seq) return false;

  const cachedStatus: CachedStatus = {
    product,
    byte,
    prev,
    pid: process.pid,
    rested: summarizeStatus(view(), null),
    owned: summarizeStatus(view(), { pid: process.pid }),
  };

  try {
    const path = join(folder, statusCacheFile);
    writeFileSync(`${path}.new`, JSON.stringify(cachedStatus), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch {
    // A cache that cannot be written is skipped: `status` folds the journal instead.
  }

  return true;
}
