// installed-folders: folders of installed packages in the user's checkout: those git ignores, and untracked ones, which are not meant to be
// committed. A run treats the latter as ignored: checks use them, and an agent's changes to its copy don't count.
//
// They are searched by name in the folders of the commit, and git is asked only about those: otherwise it would read every folder.

import { lstatSync } from "node:fs";
import { basename } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import { bytePathFromBytes, type BytePath, bytePathFromText, bytePathBytes, joinBytePath, bytePathText } from "./byte-path.ts";
import { git } from "./git.ts";
import type { GitPlaces } from "./git-places.ts";
import { listTree } from "./tree-list.ts";
import { openUserView } from "./user-view.ts";

/** Names that only an installer uses. `vendor` may be the user's own code, so it counts only if git ignores it. */
const installedNames: readonly string[] = ["node_modules", ".venv", "venv"];

/**
 * Ignore rules for those that git does not ignore, each for exactly one path, and for those that an agent may install at the top where
 * there is none yet.
 */
export async function composeInstalledRules(places: GitPlaces, existing: readonly BytePath[]): Promise<string> {
  const untracked = await listUntracked(places, existing.filter(isNamed(installedNames)), []);
  const possible = installedNames.filter((name) => !existing.some(isNamed([name])));
  return [...untracked, ...possible]
    .filter((path) => !path.includes("\n"))
    .map((path) => `/${path.replaceAll(/[*?[\]\\!#\s]/g, String.raw`\$&`)}/\n`)
    .join("");
}

/** Those of these names that git, or a further ignore file, ignores; as paths from the root. */
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
    names.includes(basename(path));

/** The subfolders of a folder of the commit with one of these names or one that only an installer uses. */
export async function findFoldersNamed({ root, gitDir }: GitPlaces, commit: GitSha, names: readonly string[]): Promise<readonly BytePath[]> {
  const parents = await readFolders({ root, gitDir }, commit);
  const top = Buffer.from(`${root}/`).toString("latin1");
  const wantedNames = [...new Set([...installedNames, ...names])].map(bytePathFromText);
  const matches: BytePath[] = [];
  for (const folder of parents)
    for (const name of wantedNames) {
      const path = joinBytePath(folder, name);
      if (isFolder(top + path)) matches.push(path);
    }
  return matches;
}

function isFolder(path: string): boolean {
  try {
    return lstatSync(/^[\x00-\x7f]*$/.test(path) ? path : Buffer.from(path, "latin1"), { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false; // a file or a dangling link in place of a folder
  }
}

/** Every folder of a commit, the root first. A list of paths is sorted, so the previous one shows what is new. */
async function readFolders({ root, gitDir }: Pick<GitPlaces, "root" | "gitDir">, commit: GitSha): Promise<readonly BytePath[]> {
  const { paths } = await listTree({ cwd: root, env: { GIT_DIR: gitDir } }, commit);
  const folders = new Set<BytePath>(["" as BytePath]);
  let previousFolder = "";
  for (const path of paths) {
    const end = path.lastIndexOf("/");
    if (end === -1 || (previousFolder.length === end && path.startsWith(previousFolder))) continue;
    previousFolder = path.slice(0, end);
    for (
      let index = previousFolder.length;
      index > 0 && !folders.has(previousFolder.slice(0, index) as BytePath);
      index = previousFolder.lastIndexOf("/", index - 1)
    )
      folders.add(previousFolder.slice(0, index) as BytePath);
  }
  return [...folders];
}

/** Git's answer about these: the untracked ones among them, and with `options` others. */
async function listUntracked(places: GitPlaces, folders: readonly BytePath[], options: readonly string[]): Promise<readonly string[]> {
  const paths = folders.flatMap((path) => bytePathText(path) ?? []);
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
    const { out } = await git({ ...(await openUserView(places)), args: ["--literal-pathspecs", ...args] });
    untracked.push(...parseFolders(out));
  }
  return untracked;
}
const pathsPerCall = 500;

/** The folders of a NUL-separated listing, without the trailing slash. */
const parseFolders = (out: Buffer): readonly string[] =>
  out
    .toString("latin1")
    .split("\0")
    .filter((path) => path.endsWith("/"))
    .flatMap((path) => bytePathText(bytePathFromBytes(bytePathBytes(path.slice(0, -1) as BytePath))) ?? []);
