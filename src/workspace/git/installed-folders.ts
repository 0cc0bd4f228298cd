// installed-folders: folders of installed packages in the user's checkout: those git ignores, and untracked ones, which are not meant to be
// committed. A run treats the latter as ignored: checks use them, and an agent's changes to its copy don't count.
//
// They are searched by name in the folders of the commit, and git is asked only about those: otherwise it would read every folder.

import { lstatSync } from "node:fs";
import { basename } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import { buildBytePath, type BytePath, bytePathOfText, bytePathBytes, joined, bytePathText } from "./byte-path.ts";
import { git } from "./git.ts";
import type { GitPlaces } from "./places.ts";
import { listTree } from "./tree-list.ts";
import { userViewCall } from "./user-view.ts";

/** Names that only an installer uses. `vendor` may be the user's own code, so it counts only if git ignores it. */
const installedNames: readonly string[] = ["node_modules", ".venv", "venv"];

/** Ignore rules for those that git does not ignore, each for exactly one path. */
export async function installedRules(places: GitPlaces, there: readonly BytePath[]): Promise<string> {
  const found = await listed(places, there.filter(isNamed(installedNames)), []);
  return found
    .filter((path) => !path.includes("\n"))
    .map((path) => `/${path.replaceAll(/[*?[\]\\!#\s]/g, String.raw`\$&`)}/\n`)
    .join("");
}

/** Those of these names that git, or a further ignore file, ignores; as paths from the root. */
export function ignoredFolders(
  places: GitPlaces,
  there: readonly BytePath[],
  names: readonly string[],
  rules?: string,
): Promise<readonly string[]> {
  const more = rules === undefined ? [] : [`--exclude-from=${rules}`];
  return listed(places, there.filter(isNamed(names)), ["--ignored", ...more]);
}

const isNamed =
  (names: readonly string[]) =>
  (path: BytePath): boolean =>
    names.includes(basename(path));

/** The subfolders of a folder of the commit with one of these names or one that only an installer uses. */
export async function foldersNamed({ root, gitDir }: GitPlaces, commit: GitSha, names: readonly string[]): Promise<readonly BytePath[]> {
  const above = await foldersOf({ root, gitDir }, commit);
  const top = Buffer.from(`${root}/`).toString("latin1");
  const wantedBytePaths = [...new Set([...installedNames, ...names])].map(bytePathOfText);
  const foundBytePaths: BytePath[] = [];
  for (const folder of above)
    for (const name of wantedBytePaths) {
      const path = joined(folder, name);
      if (isFolder(top + path)) foundBytePaths.push(path);
    }
  return foundBytePaths;
}

function isFolder(path: string): boolean {
  try {
    return lstatSync(/^[\x00-\x7f]*$/.test(path) ? path : Buffer.from(path, "latin1"), { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false; // a file or a dangling link in place of a folder
  }
}

/** Every folder of a commit, the root first. A list of paths is sorted, so the previous one shows what is new. */
async function foldersOf({ root, gitDir }: Pick<GitPlaces, "root" | "gitDir">, commit: GitSha): Promise<readonly BytePath[]> {
  const { paths } = await listTree({ cwd: root, env: { GIT_DIR: gitDir } }, commit);
  const folders = new Set<BytePath>(["" as BytePath]);
  let last = "";
  for (const path of paths) {
    const end = path.lastIndexOf("/");
    if (end === -1 || (last.length === end && path.startsWith(last))) continue;
    last = path.slice(0, end);
    for (let index = last.length; index > 0 && !folders.has(last.slice(0, index) as BytePath); index = last.lastIndexOf("/", index - 1))
      folders.add(last.slice(0, index) as BytePath);
  }
  return [...folders];
}

/** Git's answer about these: the untracked ones among them, and with `options` others. */
async function listed(places: GitPlaces, folders: readonly BytePath[], options: readonly string[]): Promise<readonly string[]> {
  const asked = folders.flatMap((path) => bytePathText(path) ?? []);
  if (asked.length === 0) return [];
  const found: string[] = [];
  for (let index = 0; index < asked.length; index += askedAtOnce) {
    const args = [
      "ls-files",
      "-z",
      "--others",
      "--exclude-standard",
      "--directory",
      ...options,
      "--",
      ...asked.slice(index, index + askedAtOnce),
    ];
    const { out } = await git({ ...userViewCall(places), args: ["--literal-pathspecs", ...args] });
    found.push(...foldersListed(out));
  }
  return found;
}
const askedAtOnce = 500;

/** The folders of a NUL-separated listing, without the trailing slash. */
const foldersListed = (out: Buffer): readonly string[] =>
  out
    .toString("latin1")
    .split("\0")
    .filter((path) => path.endsWith("/"))
    .flatMap((path) => bytePathText(buildBytePath(bytePathBytes(path.slice(0, -1) as BytePath))) ?? []);
