// share-portfolio: moves a portfolio's journal into a store. From then on its folder is a copy, and
// every process that writes finds the mark.
// Invariants S1 and on: fleet/shared-run.ts.

import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { nodeDisk } from "../journal/disk.ts";
import { journalFile } from "../journal/journal.ts";
import { takeLock } from "../journal/lock.ts";
import { readJournal } from "../journal/read.ts";
import type { PostgresStore } from "./postgres/store.ts";
import { markShared, readPortfolioMark } from "./shared-mark.ts";

/**
 * Returns the portfolio's key in the store; does nothing else if it is there already. Throws a
 * JournalFailure.
 */
export async function sharePortfolio(
  store: Pick<PostgresStore, "seed">,
  folder: string,
): Promise<string> {
  const mark = readPortfolioMark(folder);
  if (mark !== null) return mark.key;
  const lock = await takeLock(nodeDisk, folder);

  try {
    const current = readPortfolioMark(folder);
    if (current !== null) return current.key;
    const { end } = readJournal(folder, { startAt: "start" });
    const lines = splitLines(readFileSync(join(folder, journalFile)).subarray(0, end.byte));
    const key = `portfolio-${hash("sha256", lines[0] ?? "").slice(0, 16)}`; // the same wherever the journal lies
    await store.seed({ run: key, kind: "portfolio", lines, end });
    markShared(folder, key); // S5

    return key;
  } finally {
    lock.release();
  }
}

function splitLines(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (
    let start = 0, end = bytes.indexOf(10);
    end !== -1;
    start = end + 1, end = bytes.indexOf(10, start)
  ) {
    lines.push(bytes.subarray(start, end));
  }

  return lines;
}
