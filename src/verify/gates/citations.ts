// citations: places in files that a document names (`src/sum.js:12`) and that are not there. Pure.
//
// Invariants:
//   C1. Only what is meant as a place of this tree counts: its first folder is there, or the file itself is. What lies elsewhere is not known.
//   C2. What is quoted (code blocks) or said to be gone is no citation.

import { placesIn } from "../claims/reported-files.ts";

export type Cited = { readonly path: string; readonly line: number };
export type CitedTree = {
  readonly paths: ReadonlySet<string>;
  /** How many lines a file has, now or before the work; null where that is not known. */
  readonly linesIn: (path: string) => number | null;
};

const citedMax = 500;

export function citedIn(text: string): readonly Cited[] {
  let isQuoted = false;
  const found: Cited[] = [];
  for (const line of text.split("\n")) {
    if (/^\s{0,9}(?:```|~~~)/.test(line)) isQuoted = !isQuoted;
    else if (!isQuoted && found.length < citedMax && line.length <= 2_000)
      found.push(...placesIn(line).flatMap(({ path, line: at, isOfRemoval }) => (isOfRemoval ? [] : [{ path, line: at }]))); // C2
  }
  return found;
}

/** Of these places those that are not there, as they were written. */
export function missingAmong(cited: readonly Cited[], { paths, linesIn }: CitedTree): readonly string[] {
  const folders = new Set([...paths].flatMap((path) => (path.includes("/") ? [path.slice(0, path.indexOf("/"))] : [])));
  const missing = cited.filter(({ path, line }) => {
    const bare = path.replace(/^\.\//, "");
    if (!paths.has(bare)) return bare.includes("/") && folders.has(bare.slice(0, bare.indexOf("/"))) && linesIn(bare) === null; // C1
    const lines = linesIn(bare);
    return line === 0 || (lines !== null && line > lines);
  });
  return [...new Set(missing.map(({ path, line }) => `${path}:${line}`))];
}
