// source-positions: finds file positions such as `src/a.ts:12` in a text, and checks whether they
// exist.

import type { Workspace } from "../../../ports/workspace.ts";
import { findDanglingPositions } from "../../../verify/gates/dangling-positions.ts";

export type SourcePosition = { readonly path: string; readonly line: number | null };

const textBytesMax = 1_048_576;
const positionsMax = 20;
const textCharsMax = 20_000;
const quotedCharsMax = 80;

/** `src/a.ts:12`, `./a.test.js`, `Makefile.am` */
const filePosition = /(?<![\w./:-])((?:[\w@.+-]+\/)*[\w@.+-]*\w\.[A-Za-z]\w{0,9})(?::(\d{1,7}))?/g;

/** Paths with a file extension in a text, with their line number if there is one. */
export function findPositions(text: string): readonly SourcePosition[] {
  const positions = new Map<string, SourcePosition>();
  for (const [positionText, path = "", line] of text
    .slice(0, textCharsMax)
    .matchAll(filePosition)) {
    if (positions.size >= positionsMax) break;
    if (!positions.has(positionText)) {
      positions.set(positionText, {
        path: path.replace(/^\.\//, ""),
        line: line === undefined ? null : Number(line),
      });
    }
  }

  return [...positions.values()];
}

/**
 * Why a text proves nothing: it names no file, none of its files exists, or a position it names
 * doesn't. Null if all is there.
 */
export async function findMissingReason(
  workspace: Pick<Workspace, "textAt" | "pathsAt">,
  commit: string,
  text: string,
): Promise<string | null> {
  const positions = findPositions(text);
  if (positions.length === 0) {
    return `${JSON.stringify(text.slice(0, quotedCharsMax))} names no file:line`;
  }

  const dangling = await findPositionsInNone(workspace, [commit], text);
  if (dangling.length > 0) {
    return `${dangling.join(", ")} ${dangling.length === 1 ? "is" : "are"} not there`;
  }

  const paths = await workspace.pathsAt(commit);
  const exists = ({ path }: SourcePosition): boolean =>
    paths.some((existing) => existing === path || existing.endsWith(`/${path}`));
  return positions.some(exists)
    ? null
    : `there is no file ${positions.map(({ path }) => path).join(", ")}`;
}

/**
 * The positions in a text that are in none of these commits: the file is missing there, or has
 * fewer lines.
 */
export async function findPositionsInNone(
  workspace: Pick<Workspace, "textAt" | "pathsAt">,
  commits: readonly string[],
  text: string,
): Promise<readonly string[]> {
  const versions = commits.map(async (commit) => ({
    paths: await workspace.pathsAt(commit),
    read: (path: string) => workspace.textAt(commit, path, textBytesMax),
  }));
  return findDanglingPositions(await Promise.all(versions), text.slice(0, textCharsMax));
}
