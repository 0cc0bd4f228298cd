// dangling-positions: finds positions such as `src/a.ts:12` in a text that are in none of some trees.

import { type Citation, findCitations, findCitedFiles, findMissingCitations } from "./citations.ts";

/** One version of the project's files. `read`: null if there is no such text. */
export type TreeVersion = { readonly paths: readonly string[]; readonly read: (path: string) => Promise<string | null> };

/** The positions that no version has: the file is missing there, or has fewer lines. `isJudged`: leaves citations out. */
export async function findDanglingPositions(
  versions: readonly TreeVersion[],
  text: string,
  isJudged: (citation: Citation) => boolean = () => true,
): Promise<readonly string[]> {
  const citations = findCitations(text).filter(isJudged);
  const paths = new Set(versions.flatMap((version) => version.paths));
  const texts = new Map<string, readonly string[]>();
  for (const path of new Set([...findCitedFiles(citations, paths).values()].flat())) {
    const contents = await Promise.all(versions.map(({ read }) => read(path)));
    const readable = contents.filter((content) => content !== null);
    if (readable.length > 0) texts.set(path, readable);
  }
  return findMissingCitations(citations, { paths, texts: (path) => texts.get(path) ?? null });
}
