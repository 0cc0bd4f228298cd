// appends: splits changes that belong together into appends of the journal, however many they are.

import type { PortfolioChange } from "../../contracts/portfolio/portfolio-journal.ts";
import { appendBytesMax } from "../../journal/line.ts";

/** What the journal adds to a line, and what redaction may add. */
const lineOverheadBytes = 1024;
const splitBytesMax = appendBytesMax / 2;

/**
 * As many changes in each append as it may hold. If there are several changes, each is marked with
 * its place among them: they count only once all of them are in the journal.
 */
export function splitIntoAppends(
  changes: readonly PortfolioChange[],
): readonly (readonly PortfolioChange[])[] {
  const appends: PortfolioChange[][] = [];
  let append: PortfolioChange[] = [];
  let bytes = splitBytesMax; // full, so that the first change begins an append

  for (const [index, change] of changes.entries()) {
    const changeBytes = Buffer.byteLength(JSON.stringify(change)) + lineOverheadBytes;
    if (bytes + changeBytes > splitBytesMax) {
      append = [];
      appends.push(append);
      bytes = 0;
    }

    bytes += changeBytes;
    const part = { at: index + 1, of: changes.length };
    append.push(changes.length === 1 ? change : Object.assign({}, change, { part }));
  }

  return appends;
}
