// git-places: finds a repository without running git: its checkout, its git folder, and the one it
// shares in a linked worktree.

import { lstatSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readSmallFile } from "../folder.ts";

/**
 * A checkout, its git folder, and the git folder with its branches and objects: another one in a
 * linked worktree.
 */
export type GitPlaces = {
  readonly root: string;
  readonly gitDir: string;
  readonly commonDir: string;
};

const pointerBytesMax = 1 << 20;

/** The repository around a folder, found without running git; null if there is none. */
export function findGitPlaces(folder: string): GitPlaces | null {
  for (let root = resolve(folder); ; root = dirname(root)) {
    const dotGit = join(root, ".git");
    const gitDir = readGitDir(dotGit);
    if (gitDir !== null) return { root, gitDir, commonDir: readCommonDir(gitDir) };
    if (root === dirname(root)) return null;
  }
}

/**
 * The git directory that `.git` is or, as a file in a linked worktree or submodule, points to; null
 * if there is none.
 */
function readGitDir(dotGit: string): string | null {
  const stat = lstatSync(dotGit, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true || stat?.isSymbolicLink() === true) {
    return hasNoHead(dotGit) ? null : dotGit;
  }

  if (stat?.isFile() !== true) return null;
  const text = readSmallFile(dotGit, pointerBytesMax)?.toString("utf8") ?? "";
  const pointer = /^gitdir: (.+?)[\r\n]*$/s.exec(text)?.[1];

  return pointer === undefined ? null : resolve(dirname(dotGit), pointer);
}

/**
 * Git looks further up if a folder called `.git` has no HEAD. If that can't be known, git is left
 * to say so.
 */
function hasNoHead(dotGit: string): boolean {
  try {
    return lstatSync(join(dotGit, "HEAD"), { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/**
 * The git folder with the branches and objects: the main repository's in a linked worktree, else
 * the same.
 */
export function readCommonDir(gitDir: string): string {
  const mainGitDir =
    readSmallFile(join(gitDir, "commondir"), pointerBytesMax)
      ?.toString("utf8")
      .replace(/[\r\n]+$/, "") ?? "";
  return mainGitDir === "" ? gitDir : resolve(gitDir, mainGitDir);
}
