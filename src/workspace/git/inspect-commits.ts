// inspect-commits: reads commits without changing anything: the difference between two, the text of a file, whether a commit exists.

import { join } from "node:path";
import { compareText } from "../../kit/compare-text.ts";
import type { AttemptId, GitSha } from "../../contracts/ids.ts";
import type { Difference } from "../../ports/workspace.ts";
import { bytePathFromText, displayPath } from "./byte-path.ts";
import { git } from "./git.ts";
import { userRepositoryCall } from "./run-commits.ts";
import { layerFolder } from "../layers/layer.ts";
import type { RunWorkspace } from "../run-workspace.ts";
import { readObject } from "./object-reader.ts";
import { type TreeEntry, resolveTree } from "./tree.ts";
import { readFileDifferences, openTreeFolders } from "./tree-folders.ts";
import { listDisplayPaths } from "./tree-list.ts";

export async function readDifferences(run: RunWorkspace, from: GitSha, to: GitSha): Promise<readonly Difference[]> {
  if (from === to) return [];
  return (await readFileDifferences(run.shadow.call, from, to)).map(({ path, was, now }) => ({
    path: displayPath(path),
    kind: differenceKind(was, now),
    was: entryKey(was),
    now: entryKey(now),
  }));
}

function differenceKind(was: TreeEntry | undefined, now: TreeEntry | undefined): Difference["kind"] {
  if (was === undefined) return "added";
  return now === undefined ? "deleted" : "changed";
}

const entryKey = (entry: TreeEntry | undefined): string | null => (entry === undefined ? null : `${entry.mode} ${entry.sha}`);

/** The file list of the run's base and of the last other commit: steps ask for the same ones repeatedly. */
const pathLists = new WeakMap<RunWorkspace, Map<GitSha, Promise<readonly string[]>>>();

export function pathsAt(run: RunWorkspace, commit: GitSha): Promise<readonly string[]> {
  const lists = pathLists.get(run) ?? new Map<GitSha, Promise<readonly string[]>>();
  pathLists.set(run, lists);
  const cached = lists.get(commit);
  if (cached !== undefined) return cached;
  for (const other of lists.keys()) if (other !== run.base.commit) lists.delete(other);
  const paths = commit === run.base.commit ? listDisplayPaths(run.shadow.call, commit) : pathsByDifference(run, commit);
  lists.set(commit, paths);
  paths.catch(() => lists.delete(commit));
  return paths;
}

/** The base's list, without what is gone and with what is new. */
async function pathsByDifference(run: RunWorkspace, commit: GitSha): Promise<readonly string[]> {
  const basePaths = await pathsAt(run, run.base.commit);
  const differences = await readFileDifferences(run.shadow.call, run.base.commit, commit);
  const deleted = new Set(differences.flatMap(({ path, now }) => (now === undefined ? [displayPath(path)] : [])));
  const added = differences.flatMap(({ path, was }) => (was === undefined ? [displayPath(path)] : []));
  if (deleted.size + added.length === 0) return basePaths;
  const paths = deleted.size === 0 ? [...basePaths] : basePaths.filter((path) => !deleted.has(path));
  paths.push(...added);
  return paths.sort((a, b) => compareText(a, b)); // a sorted list is searched without a copy
}

export async function textAt(run: RunWorkspace, commit: GitSha, path: string, bytesMax: number): Promise<string | null> {
  const tree = await resolveTree(run.shadow.call, commit);
  const entry = await openTreeFolders(run.shadow.call).at(tree, bytePathFromText(path));
  if (entry === undefined || !entry.mode.startsWith("100")) return null;
  const text = (await readObject(run.shadow.call, entry.sha, bytesMax))?.content ?? null;
  return text === null || text.includes(0) ? null : text.toString("utf8");
}

/**
 * Whether an agent's disposable repository has a commit of this hash, or a single one with this prefix. Only its objects are read, never
 * its settings.
 */
export async function hasCommit(run: RunWorkspace, attempt: AttemptId, name: string): Promise<boolean> {
  if (!/^[0-9a-f]{6,64}$/.test(name)) return false;
  const objects = join(layerFolder(run, attempt), ".git", "objects");
  const call = { ...run.shadow.call, env: { ...run.shadow.call.env, GIT_ALTERNATE_OBJECT_DIRECTORIES: objects } };
  const { code } = await git({
    ...call,
    args: ["rev-parse", "--verify", "-q", "--end-of-options", `${name}^{commit}`],
    codes: [0, 1, 128],
  });
  return code === 0;
}

const orderTimeoutMs = 60_000;

/**
 * Whether a path was last changed in a later commit than another, in the history that ends with `commit`. Null if history does not show it:
 * one of them is in no commit, or they were changed on unrelated branches.
 */
export async function isLater(run: RunWorkspace, commit: GitSha, path: string, than: string): Promise<boolean | null> {
  const lastChange = async (item: string): Promise<string> => {
    const args = ["--literal-pathspecs", "rev-list", "-1", commit, "--", item];
    return (await git({ ...userRepositoryCall(run), args, timeoutMs: orderTimeoutMs })).out.toString("utf8").trim();
  };
  const [changedIn, otherChangedIn] = [await lastChange(path), await lastChange(than)];
  if (changedIn === "" || otherChangedIn === "") return null;
  if (changedIn === otherChangedIn) return false;
  const isAncestor = async (old: string, young: string): Promise<boolean> =>
    (await git({ ...userRepositoryCall(run), args: ["merge-base", "--is-ancestor", old, young], codes: [0, 1], timeoutMs: orderTimeoutMs }))
      .code === 0;
  if (await isAncestor(otherChangedIn, changedIn)) return true;
  return (await isAncestor(changedIn, otherChangedIn)) ? false : null;
}
