// ignore: which paths the base tree's ignore rules ignore. The rules are the base's, not those an agent may have rewritten: git is run in a
// folder with nothing but the base's .gitignore files.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import { buildBytePath, bytePathBytes, foldersAbove, joined, type BytePath } from "./byte-path.ts";
import { git } from "./git.ts";
import { materialize } from "./materialize.ts";
import type { Shadow } from "./shadow.ts";
import type { TreeEntry } from "./tree.ts";
import type { TreeFolders } from "./tree-folders.ts";

/** The tree itself, which has no name. */
const top = "" as BytePath;

/** Returns which of these paths are ignored; a folder is passed with a trailing slash. */
export type IgnoredOf = (paths: readonly BytePath[]) => Promise<ReadonlySet<BytePath>>;

const known = new Map<string, Set<BytePath>>();
const knownMax = 200;

export function ignoredBy(shadow: Shadow, folders: TreeFolders, tree: GitSha, rulesDir: string): IgnoredOf {
  const folder = join(rulesDir, tree);
  return async (paths) => {
    const answered = answers.get(folder) ?? new Map<BytePath, boolean>();
    const asked = paths.filter((path) => !answered.has(path));
    if (answers.size > knownMax || answered.size > answersMax) answers.clear();
    answers.set(folder, answered);
    const ignored = asked.length === 0 ? new Set<BytePath>() : await ask(shadow, folders, tree, folder, asked);
    for (const path of asked) answered.set(path, ignored.has(path));
    return new Set(paths.filter((path) => answered.get(path) === true));
  };
}

/** Cached: the rules of a tree never change. */
const answers = new Map<string, Map<BytePath, boolean>>();
const answersMax = 100_000;

async function ask(
  shadow: Shadow,
  folders: TreeFolders,
  tree: GitSha,
  folder: string,
  paths: readonly BytePath[],
): Promise<ReadonlySet<BytePath>> {
  await layRules(shadow, folders, tree, folder, paths);
  const { out } = await git({
    ...shadow.call,
    cwd: folder,
    env: { ...shadow.call.env, GIT_WORK_TREE: folder },
    args: ["check-ignore", "--no-index", "-z", "--stdin"],
    codes: [0, 1],
    input: questionsOf(paths),
  });
  const ignored = new Set<BytePath>();
  for (let index = 0; index < out.length;) {
    const end = out.indexOf(0, index);
    ignored.add(buildBytePath(out.subarray(index + 2, end)));
    index = end + 1;
  }
  return ignored;
}

function* questionsOf(paths: readonly BytePath[]): Generator<Buffer> {
  for (const path of paths) {
    // `./` in front, so that a name that begins with a colon is not taken for pathspec magic.
    yield Buffer.concat([Buffer.from("./"), bytePathBytes(path), Buffer.from([0])]);
  }
}

/** The rules of every parent folder of these paths; those already present are not read again. */
async function layRules(shadow: Shadow, folders: TreeFolders, tree: GitSha, folder: string, paths: readonly BytePath[]): Promise<void> {
  if (known.size > knownMax) known.clear();
  const laid = known.get(folder) ?? new Set<BytePath>();
  known.set(folder, laid);
  const wanted = new Set(paths.flatMap((path) => [top, ...foldersAbove(path)]).filter((above) => !laid.has(above)));
  if (wanted.size === 0) return;
  const rules: [BytePath, TreeEntry][] = [];
  for (const above of wanted) {
    const entry = await folders.at(tree, joined(above, ".gitignore" as BytePath));
    if (entry !== undefined && entry.mode.startsWith("100")) rules.push([joined(above, ".gitignore" as BytePath), entry]);
  }
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (rules.length > 0) await materialize(shadow, rules, folder);
  for (const above of wanted) laid.add(above);
}
