// citations: finds dangling references in a document: positions in files (`src/sum.js:12`), commits, and logs kept beside it. Pure.
//
// Invariants:
//   C1. Only references into this tree count: the first folder exists, or the file itself does. Anything else is unknown.
//   C2. Quoted text (code blocks) and what is said to be removed aren't citations.

import { positionClaims } from "../claims/reported-files.ts";

export type Citation = { readonly path: string; readonly line: number };
export type CitableTree = {
  readonly paths: ReadonlySet<string>;
  /** How many lines a file has, now or before the work; null if unknown. */
  readonly lineCount: (path: string) => number | null;
};

const citationsMax = 500;

export function findCitations(text: string): readonly Citation[] {
  const citations: Citation[] = [];
  for (const line of proseLines(text)) {
    if (citations.length < citationsMax)
      citations.push(...positionClaims(line).flatMap(({ path, line: cited, isOfRemoval }) => (isOfRemoval ? [] : [{ path, line: cited }]))); // C2
  }
  return citations;
}

/** The positions that do not exist, as they were written. */
export function missingCitations(citations: readonly Citation[], { paths, lineCount }: CitableTree): readonly string[] {
  const folders = new Set([...paths].flatMap((path) => (path.includes("/") ? [path.slice(0, path.indexOf("/"))] : [])));
  const missing = citations.filter(({ path, line }) => {
    const relativePath = path.replace(/^\.\//, "");
    if (!paths.has(relativePath))
      return (
        relativePath.includes("/") && folders.has(relativePath.slice(0, relativePath.indexOf("/"))) && lineCount(relativePath) === null
      ); // C1
    const lines = lineCount(relativePath);
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

const commitName = /\bcommits?[\s:]+`?(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])([0-9a-f]{7,40})`?(?![\w-])/gi;
const commitsMax = 50;

/** Commits that a document names as such. */
export const findCommitNames = (text: string): readonly string[] =>
  [...new Set(proseLines(text).flatMap((line) => [...line.matchAll(commitName)].map(([, name = ""]) => name.toLowerCase())))].slice(
    0,
    commitsMax,
  );

/** Logs a document names that should be in its own top folder and are missing: `quality/results/BUG-1.red.log` in a page under quality/. */
export function findMissingLogs(document: string, text: string, paths: ReadonlySet<string>): readonly string[] {
  const topFolder = document.includes("/") ? document.slice(0, document.indexOf("/") + 1) : null;
  const logs = proseLines(text).flatMap((line) => [...line.matchAll(/`(?:\.\/)?([\w./-]+\.log)`/g)].map(([, path = ""]) => path));
  return topFolder === null ? [] : [...new Set(logs.filter((path) => path.startsWith(topFolder) && !paths.has(path)))];
}
