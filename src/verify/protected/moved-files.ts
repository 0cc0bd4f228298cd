// moved-files: finds out where deleted files went, and whether a test went there whole.
// Invariants L1 and on: verify/protected/find-protected.ts.

import type { GitSha } from "../../contracts/ids.ts";
import type { Difference } from "../../ports/workspace.ts";
import { findChangeFindings } from "./change-kind.ts";
import type { ChangedFile, ProtectionRules } from "./judge.ts";
import { isProgramText, isTestRow } from "./kinds.ts";
import { keepsAllLines } from "./kept-lines.ts";
import { textBytesMax, type TreeReader } from "./read-change.ts";

const comparedMax = 20;

/** The new path of each deleted file that exists elsewhere. */
export type Moves = ReadonlyMap<string, string>;

/**
 * Where deleted files went: a new file of the same content, or of the same name in another folder.
 */
export function findMoves(differences: readonly Difference[]): Moves {
  const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
  const added = differences.filter(({ kind }) => kind === "added");
  const byContent = new Map(added.map(({ path, is }) => [is ?? "", path]));
  const byName = new Map(added.map(({ path }) => [baseName(path), path]));
  const moves = new Map<string, string>();

  for (const { path, kind, was } of differences) {
    if (kind !== "deleted") continue;
    const sameContent = typeof was === "string" ? byContent.get(was) : undefined;
    const newPath = sameContent ?? byName.get(baseName(path));
    if (newPath !== undefined) moves.set(path, newPath);
  }

  return moves;
}

/** The moves, and those of tests whose text is now in a file of another name. */
export async function findMovesOfTests(
  workspace: TreeReader,
  commit: GitSha,
  { differences, changedFiles, rowOf }: DeletedTests,
): Promise<Moves> {
  const moves = new Map(findMoves(differences));
  const added = differences
    .filter(({ kind, path }) => kind === "added" && isProgramText(path))
    .slice(0, comparedMax); // L1

  for (const { difference, before } of changedFiles) {
    const { path, kind } = difference;
    if (kind !== "deleted" || moves.has(path)) continue;
    if (before === null || !isTestRow(rowOf(path))) continue;
    const newPath = await findSameTest(workspace, commit, before, added);
    if (newPath !== null) moves.set(path, newPath);
  }

  return moves;
}

type DeletedTests = {
  readonly differences: readonly Difference[];
  readonly changedFiles: readonly ChangedFile[];
  readonly rowOf: ProtectionRules["rowOf"];
};

/** A new file with the text of a deleted test, and perhaps more; null if there is none. */
async function findSameTest(
  workspace: TreeReader,
  commit: GitSha,
  before: string,
  added: readonly Difference[],
): Promise<string | null> {
  for (const { path } of added) {
    const text = await workspace.textAt(commit, path, textBytesMax);
    if (text !== null && isSameTest(path, before, text)) return path;
  }

  return null;
}

/** The moved files whose new place has all of their tests. */
export async function findMovedWhole(
  workspace: TreeReader,
  commit: GitSha,
  changedFiles: readonly ChangedFile[],
  moves: Moves,
): Promise<ReadonlySet<string>> {
  const movedWhole = new Set<string>();
  for (const { difference, before } of changedFiles) {
    const newPath = moves.get(difference.path);
    if (newPath === undefined || before === null) continue;
    const text = await workspace.textAt(commit, newPath, textBytesMax);
    if (text !== null && isSameTest(difference.path, before, text)) movedWhole.add(difference.path);
  }

  return movedWhole;
}

/**
 * Whether a file has all of a test file's text, in the same order, and nothing or more tests
 * besides; names of classes may differ.
 */
function isSameTest(path: string, before: string, after: string): boolean {
  const [textBefore, textNow] = [withoutPlace(before), withoutPlace(after)];
  if (textBefore === textNow) return true;
  const findings = findChangeFindings(path, "test", textBefore, textNow);
  // Only new test cases are described as changed.
  const hasOnlyNewTests = findings.length > 0 && findings.every(({ how }) => how === "changed");
  return hasOnlyNewTests && keepsAllLines(textBefore, textNow);
}

/**
 * A text without what a file that moves has to change: relative import paths, and the names of its
 * classes.
 */
const withoutPlace = (text: string): string =>
  text
    .replaceAll(/(?<=["'])(?:\.{1,2}\/)+/g, "./")
    .replaceAll(/^((?:public |final )*class )\w+/gm, "$1_");
