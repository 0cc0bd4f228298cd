// appends: changes that belong together, as the journal takes them, however many they are.
// Invariant R5: portfolio/planner/reduce.ts.

import type { PortfolioChange } from "../../contracts/portfolio-journal.ts";
import { appendBytesMax } from "../../journal/line.ts";

/** What the journal adds to a line, and room for what redaction does. */
const lineBytesMore = 1024;
const bytesMax = appendBytesMax / 2;

/** Changes as the journal takes them: each marked with its place if there are several, as many at a time as one append may have. */
export function splitIntoAppends(changes: readonly PortfolioChange[]): readonly (readonly PortfolioChange[])[] {
  const appends: PortfolioChange[][] = [];
  let bytes = bytesMax;
  for (const [index, change] of changes.entries()) {
    const more = Buffer.byteLength(JSON.stringify(change)) + lineBytesMore;
    if (bytes + more > bytesMax) [bytes] = [0, appends.push([])];
    bytes += more;
    appends.at(-1)?.push(changes.length === 1 ? change : Object.assign({}, change, { part: { at: index + 1, of: changes.length } }));
  }
  return appends;
}
