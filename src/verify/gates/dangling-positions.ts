// dangling-positions: finds positions such as `src/a.ts:12` in a text that are in none of some
// trees, and code quoted beside them that isn't.

import {
  type CitableTree,
  type Citation,
  findCitations,
  findCitedFiles,
  findMisquotes,
  findMissingCitations,
} from "./citations.ts";

/** One version of the project's files. `read`: null if there is no such text. */
export type TreeVersion = {
  readonly paths: readonly string[];
  readonly read: (path: string) => Promise<string | null>;
};

/** The positions that no version has: the file is missing there, or has fewer lines. */
export async function findDanglingPositions(
  versions: readonly TreeVersion[],
  text: string,
): Promise<readonly string[]> {
  const citations = findCitations(text);
  return findMissingCitations(citations, await readCitedFiles(versions, citations));
}

/**
 * The same, of the citations that `isJudged` picks, with code quoted right behind its position that
 * its file has in no version.
 */
export async function findWrongCitations(
  versions: readonly TreeVersion[],
  text: string,
  isJudged: (citation: Citation) => boolean,
): Promise<readonly string[]> {
  const citations = findCitations(text).filter(isJudged);
  const tree = await readCitedFiles(versions, citations);
  return [...findMissingCitations(citations, tree), ...findMisquotes(text, tree, isJudged)];
}

async function readCitedFiles(
  versions: readonly TreeVersion[],
  citations: readonly Citation[],
): Promise<CitableTree> {
  const paths = new Set(versions.flatMap((version) => version.paths));
  const texts = new Map<string, readonly string[]>();

  for (const path of new Set([...findCitedFiles(citations, paths).values()].flat())) {
    const contents = await Promise.all(versions.map(({ read }) => read(path)));
    const readable = contents.filter((content) => content !== null);
    if (readable.length > 0) texts.set(path, readable);
  }

  return { paths, texts: (path) => texts.get(path) ?? null };
}
