// installed-folders: finds folders of installed packages (node_modules and the like) in the user's
// checkout: those git ignores, and untracked ones, which are not meant to be committed. A run
// treats both as ignored: checks use them, and an agent's changes to its copy don't count.
//
// They are searched by name in the folders of the commit, and git is asked only about the matches:
// otherwise it would read every folder.

import { lstatSync } from "node:fs";
import type { GitSha } from "../../contracts/ids.ts";
import {
  type BytePath,
  bytePathFromText,
  bytePathToText,
  displayPath,
  joinBytePath,
  splitLastPart,
} from "./byte-path.ts";
import { git } from "./git.ts";
import type { GitPlaces } from "./git-places.ts";
import { listTree } from "./tree-list.ts";
import { openUserView } from "./user-view.ts";

/**
 * Names that only an installer uses. (`vendor` isn't one: it may be the user's own code, so it
 * counts only if git ignores it.)
 */
const installedNames: readonly string[] = ["node_modules", ".venv", "venv"];

/**
 * Ignore rules, each for exactly one path: for existing package folders that git does not ignore,
 * and for those that an agent may yet install at the top.
 */
export async function composeInstalledRules(
  places: GitPlaces,
  existing: readonly BytePath[],
): Promise<string> {
  const untracked = await listUntracked(places, existing.filter(isNamed(installedNames)), []);
  const possible = installedNames.filter((name) => !existing.some(isNamed([name])));
  return [...untracked, ...possible]
    .filter((path) => !path.includes("\n")) // a rule is one line: such a folder counts as untracked files
    .map((path) => `/${path.replaceAll(/[*?[\]\\!#\s]/g, String.raw`\$&`)}/\n`)
    .join("");
}

/**
 * The existing folders with one of these names that git, or the ignore file `rules`, ignores; as
 * paths from the root.
 */
export function findIgnoredFolders(
  places: GitPlaces,
  existing: readonly BytePath[],
  names: readonly string[],
  rules?: string,
): Promise<readonly string[]> {
  const furtherRules = rules === undefined ? [] : [`--exclude-from=${rules}`];
  return listUntracked(places, existing.filter(isNamed(names)), ["--ignored", ...furtherRules]);
}

const isNamed =
  (names: readonly string[]) =>
  (path: BytePath): boolean =>
    names.includes(displayPath(splitLastPart(path)[1]));

/**
 * The existing folders with one of these names, or with one that only an installer uses, beside the
 * files of the commit.
 */
export async function findFoldersNamed(
  { root, gitDir }: GitPlaces,
  commit: GitSha,
  names: readonly string[],
): Promise<readonly BytePath[]> {
  const parents = await readFolders({ root, gitDir }, commit);
  const top = Buffer.from(`${root}/`).toString("latin1");
  const wantedNames = [...new Set([...installedNames, ...names])].map(bytePathFromText);
  const matches: BytePath[] = [];

  for (const folder of parents) {
    for (const name of wantedNames) {
      const path = joinBytePath(folder, name);
      if (isFolder(top + path)) matches.push(path);
    }
  }

  return matches;
}

function isFolder(path: string): boolean {
  try {
    return (
      lstatSync(/^[\x00-\x7f]*$/.test(path) ? path : Buffer.from(path, "latin1"), {
        throwIfNoEntry: false,
      })?.isDirectory() === true
    );
  } catch {
    return false; // a folder above it can't be entered, or its name is too long
  }
}

/**
 * Every folder of a commit, the root first. The paths are sorted, so only a path whose folder
 * differs from the one before is looked at.
 */
async function readFolders(
  { root, gitDir }: Pick<GitPlaces, "root" | "gitDir">,
  commit: GitSha,
): Promise<readonly BytePath[]> {
  const { paths } = await listTree({ cwd: root, env: { GIT_DIR: gitDir } }, commit);
  const folders = new Set<BytePath>(["" as BytePath]);
  let previousFolder = "";

  for (const path of paths) {
    const end = path.lastIndexOf("/");
    if (end === -1 || (previousFolder.length === end && path.startsWith(previousFolder))) continue;
    previousFolder = path.slice(0, end);

    for (let length = end; length > 0; length = previousFolder.lastIndexOf("/", length - 1)) {
      const folder = previousFolder.slice(0, length) as BytePath;
      if (folders.has(folder)) break; // then those above it are there too
      folders.add(folder);
    }
  }

  return [...folders];
}

/** So many fit into the arguments of one process. */
const pathsPerCall = 500;

/**
 * The UTF-8 ones of these folders that git lists as untracked; with the option `--ignored`, those
 * it lists as ignored.
 */
async function listUntracked(
  places: GitPlaces,
  folders: readonly BytePath[],
  options: readonly string[],
): Promise<readonly string[]> {
  const paths = folders.flatMap((path) => bytePathToText(path) ?? []);
  if (paths.length === 0) return [];
  const untracked: string[] = [];

  for (let index = 0; index < paths.length; index += pathsPerCall) {
    const args = [
      "ls-files",
      "-z",
      "--others",
      "--exclude-standard",
      "--directory",
      ...options,
      "--",
      ...paths.slice(index, index + pathsPerCall),
    ];

    const { out } = await git({
      ...(await openUserView(places)),
      args: ["--literal-pathspecs", ...args],
    });
    untracked.push(...parseFolders(out));
  }

  return untracked;
}

/** The folders of a NUL-separated listing, without the trailing slash. */
const parseFolders = (out: Buffer): readonly string[] =>
  out
    .toString("latin1")
    .split("\0")
    .filter((path) => path.endsWith("/"))
    .flatMap((path) => bytePathToText(path.slice(0, -1) as BytePath) ?? []);
