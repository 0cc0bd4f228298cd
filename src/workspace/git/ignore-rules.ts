// ignore-rules: finds which paths are ignored by the .gitignore files of the base tree, not by
// those an agent may have rewritten: git is run in a folder that has nothing but the base's
// .gitignore files.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import {
  bytePathFromBytes,
  bytePathToBytes,
  listParentFolders,
  joinBytePath,
  type BytePath,
} from "./byte-path.ts";
import { git } from "./git.ts";
import { materialize } from "./materialize.ts";
import type { Shadow } from "./shadow.ts";
import type { TreeEntry } from "./tree.ts";
import type { TreeFolders } from "./tree-folders.ts";

/** The path of the tree itself. */
const top = "" as BytePath;

/** Returns which of these paths are ignored; a folder is passed with a trailing slash. */
export type FindIgnored = (paths: readonly BytePath[]) => Promise<ReadonlySet<BytePath>>;

/**
 * By rules folder: the folders of the tree that were looked at, and whose .gitignore, if any, was
 * written there.
 */
const writtenRules = new Map<string, Set<BytePath>>();
/** By rules folder: whether a path is ignored. The rules of a tree never change. */
const answers = new Map<string, Map<BytePath, boolean>>();
const cachedTreesMax = 200;
const answersMax = 100_000;

/** Where the rules of one tree are written, and what they are read from. */
type RulesFolder = {
  readonly shadow: Shadow;
  readonly folders: TreeFolders;
  readonly tree: GitSha;
  readonly folder: string;
};

/**
 * Returns a function that says which paths the .gitignore files of `tree` ignore. They are written
 * below `rulesDir`.
 */
export function openIgnoreRules(
  shadow: Shadow,
  folders: TreeFolders,
  tree: GitSha,
  rulesDir: string,
): FindIgnored {
  const folder = join(rulesDir, tree);
  return async (paths) => {
    if (answers.size > cachedTreesMax || (answers.get(folder)?.size ?? 0) > answersMax) {
      answers.clear();
    }

    const treeAnswers = answers.get(folder) ?? new Map<BytePath, boolean>();
    answers.set(folder, treeAnswers);
    const newPaths = paths.filter((path) => !treeAnswers.has(path));
    const ignored =
      newPaths.length === 0
        ? new Set<BytePath>()
        : await askGit({ shadow, folders, tree, folder }, newPaths);
    for (const path of newPaths) treeAnswers.set(path, ignored.has(path));

    return new Set(paths.filter((path) => treeAnswers.get(path) === true));
  };
}

async function askGit(
  rules: RulesFolder,
  paths: readonly BytePath[],
): Promise<ReadonlySet<BytePath>> {
  const { shadow, folder } = rules;
  await writeRules(rules, paths);

  const { out } = await git({
    ...shadow.call,
    cwd: folder,
    env: { ...shadow.call.env, GIT_WORK_TREE: folder },
    args: ["check-ignore", "--no-index", "-z", "--stdin"],
    acceptedExitCodes: [0, 1], // 1: none is ignored
    input: formatPathRows(paths),
  });

  const ignored = new Set<BytePath>();
  for (let index = 0; index < out.length;) {
    const end = out.indexOf(0, index);
    ignored.add(bytePathFromBytes(out.subarray(index + "./".length, end)));
    index = end + 1;
  }

  return ignored;
}

/** Paths as `check-ignore -z --stdin` reads them. */
function* formatPathRows(paths: readonly BytePath[]): Generator<Buffer> {
  for (const path of paths) {
    // `./` in front, so that a name that begins with a colon is not taken for pathspec magic.
    yield Buffer.concat([Buffer.from("./"), bytePathToBytes(path), Buffer.from([0])]);
  }
}

/**
 * Writes the rules of every parent folder of these paths, unless this process has written them
 * before.
 */
async function writeRules(
  { shadow, folders, tree, folder }: RulesFolder,
  paths: readonly BytePath[],
): Promise<void> {
  if (writtenRules.size > cachedTreesMax) writtenRules.clear();
  const foldersWithRules = writtenRules.get(folder) ?? new Set<BytePath>();
  writtenRules.set(folder, foldersWithRules);
  const parents = paths.flatMap((path) => [top, ...listParentFolders(path)]);
  const newFolders = new Set(parents.filter((parent) => !foldersWithRules.has(parent)));
  if (newFolders.size === 0) return;
  const rules: [BytePath, TreeEntry][] = [];

  for (const parent of newFolders) {
    const path = joinBytePath(parent, ".gitignore" as BytePath);
    const entry = await folders.findEntry(tree, path);
    if (entry !== undefined && entry.mode.startsWith("100")) rules.push([path, entry]);
  }

  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (rules.length > 0) await materialize(shadow, rules, folder);
  for (const parent of newFolders) foldersWithRules.add(parent);
}
