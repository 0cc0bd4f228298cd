// citations: finds dangling references in a document: positions in files (`src/sum.js:12`), commits, and logs kept beside it. Pure.
//
// Invariants:
//   C1. Only references into this tree count: the first folder exists, or the file itself does. Anything else is unknown.
//   C2. Quoted text (code blocks) and what is said to be removed aren't citations.

import { placesIn } from "../claims/reported-files.ts";

export type Cited = { readonly path: string; readonly line: number };
export type CitedTree = {
  readonly paths: ReadonlySet<string>;
  /** How many lines a file has, now or before the work; null if unknown. */
  readonly linesIn: (path: string) => number | null;
};

const citedMax = 500;

export function citedIn(text: string): readonly Cited[] {
  const found: Cited[] = [];
  for (const line of proseLines(text)) {
    if (found.length < citedMax)
      found.push(...placesIn(line).flatMap(({ path, line: at, isOfRemoval }) => (isOfRemoval ? [] : [{ path, line: at }]))); // C2
  }
  return found;
}

/** The positions that do not exist, as they were written. */
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

/** The lines that are the document's own text (C2). */
export function proseLines(text: string): readonly string[] {
  let isQuoted = false;
  return text.split("\n").filter((line) => {
    const isFence = /^\s{0,9}(?:```|~~~)/.test(line);
    if (isFence) isQuoted = !isQuoted;
    return !isFence && !isQuoted && line.length <= 2_000;
  });
}

const namedCommit = /\bcommits?[\s:]+`?(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])([0-9a-f]{7,40})`?(?![\w-])/gi;
const commitsMax = 50;

/** Commits that a document names as such. */
export const commitsIn = (text: string): readonly string[] =>
  [...new Set(proseLines(text).flatMap((line) => [...line.matchAll(namedCommit)].map(([, name = ""]) => name.toLowerCase())))].slice(
    0,
    commitsMax,
  );

/** Logs a document names that should be in its own top folder and are missing: `quality/results/BUG-1.red.log` in a page under quality/. */
export function missingLogs(document: string, text: string, paths: ReadonlySet<string>): readonly string[] {
  const top = document.includes("/") ? document.slice(0, document.indexOf("/") + 1) : null;
  const named = proseLines(text).flatMap((line) => [...line.matchAll(/`(?:\.\/)?([\w./-]+\.log)`/g)].map(([, path = ""]) => path));
  return top === null ? [] : [...new Set(named.filter((path) => path.startsWith(top) && !paths.has(path)))];
}
