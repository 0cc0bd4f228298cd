// inspect-commits: answers questions about commits of a run: how two differ, which paths one has,
// the text of a file, whether an agent made a commit of this name, which change is later.

import { join } from "node:path";
import { compareText } from "../../kit/compare-text.ts";
import type { AttemptId, GitSha } from "../../contracts/ids.ts";
import type { Difference } from "../../ports/workspace.ts";
import { bytePathFromText, displayPath } from "./byte-path.ts";
import { isAncestor } from "./commits.ts";
import { git } from "./git.ts";
import { composeBranchCall } from "./run-commits.ts";
import { layerFolder } from "../layers/layer.ts";
import type { RunWorkspace } from "../run-workspace.ts";
import { readObject } from "./object-reader.ts";
import { type TreeEntry, resolveTree } from "./tree.ts";
import { readFileDifferences, openTreeFolders } from "./tree-folders.ts";
import { listDisplayPaths } from "./tree-list.ts";

/** The files that differ between two commits. */
export async function readDifferences(
  run: RunWorkspace,
  from: GitSha,
  to: GitSha,
): Promise<readonly Difference[]> {
  if (from === to) return [];
  return (await readFileDifferences(run.shadow.call, from, to)).map(({ path, before, after }) => ({
    path: displayPath(path),
    kind: toDifferenceKind(before, after),
    was: toEntryKey(before),
    is: toEntryKey(after),
  }));
}

function toDifferenceKind(
  before: TreeEntry | undefined,
  after: TreeEntry | undefined,
): Difference["kind"] {
  if (before === undefined) return "added";
  return after === undefined ? "deleted" : "changed";
}

/** A text that is the same for the same kind and content. */
const toEntryKey = (entry: TreeEntry | undefined): string | null =>
  entry === undefined ? null : `${entry.mode} ${entry.sha}`;

/**
 * The file list of the run's base and of the last other commit: steps ask for the same ones
 * repeatedly.
 */
const pathLists = new WeakMap<RunWorkspace, Map<GitSha, Promise<readonly string[]>>>();

/** Every path of a commit, as text. */
export function readPathsAt(run: RunWorkspace, commit: GitSha): Promise<readonly string[]> {
  const lists = pathLists.get(run) ?? new Map<GitSha, Promise<readonly string[]>>();
  pathLists.set(run, lists);
  const cached = lists.get(commit);
  if (cached !== undefined) return cached;
  for (const cachedCommit of lists.keys()) {
    if (cachedCommit !== run.base.commit) lists.delete(cachedCommit);
  }

  const paths =
    commit === run.base.commit
      ? listDisplayPaths(run.shadow.call, commit)
      : computePathsFromBase(run, commit);
  lists.set(commit, paths);
  paths.catch(() => lists.delete(commit));

  return paths;
}

/** The base's list, without deleted and with added paths. */
async function computePathsFromBase(run: RunWorkspace, commit: GitSha): Promise<readonly string[]> {
  const basePaths = await readPathsAt(run, run.base.commit);
  const differences = await readFileDifferences(run.shadow.call, run.base.commit, commit);
  const deleted = new Set(
    differences.filter(({ after }) => after === undefined).map(({ path }) => displayPath(path)),
  );

  const added = differences
    .filter(({ before }) => before === undefined)
    .map(({ path }) => displayPath(path));
  if (deleted.size + added.length === 0) return basePaths;
  const paths =
    deleted.size === 0 ? [...basePaths] : basePaths.filter((path) => !deleted.has(path));
  paths.push(...added);

  return paths.sort((a, b) => compareText(a, b)); // sorted, like the base's list
}

/**
 * The text of a regular file in a commit; null if there is none, if it is larger, or if it has a
 * NUL in it, as text never has.
 */
export async function readTextAt(
  run: RunWorkspace,
  commit: GitSha,
  path: string,
  bytesMax: number,
): Promise<string | null> {
  const tree = await resolveTree(run.shadow.call, commit);
  const entry = await openTreeFolders(run.shadow.call).findEntry(tree, bytePathFromText(path));
  if (entry === undefined || !entry.mode.startsWith("100")) return null;
  const content = (await readObject(run.shadow.call, entry.sha, bytesMax))?.content ?? null;

  return content === null || content.includes(0) ? null : content.toString("utf8");
}

/**
 * Whether an agent's disposable repository has a commit of this hash, or a single one with this
 * prefix; null if it hasn't and the history is cut off. Only its objects are read, never its
 * settings.
 */
export async function hasCommit(
  run: RunWorkspace,
  attempt: AttemptId,
  name: string,
): Promise<boolean | null> {
  if (!/^[0-9a-f]{6,64}$/.test(name)) return false;
  const objects = join(layerFolder(run, attempt), ".git", "objects");
  const call = {
    ...run.shadow.call,
    env: { ...run.shadow.call.env, GIT_ALTERNATE_OBJECT_DIRECTORIES: objects },
  };

  const { code } = await git({
    ...call,
    args: ["rev-parse", "--verify", "-q", "--end-of-options", `${name}^{commit}`],
    acceptedExitCodes: [0, 1, 128],
  });
  if (code === 0) return true;
  const { out } = await git({ ...run.shadow.call, args: ["rev-parse", "--is-shallow-repository"] });

  return out.toString("utf8").trim() === "true" ? null : false;
}

const orderTimeoutMs = 60_000;

/**
 * Whether a path was last changed in a later commit than another, in the history that ends with
 * `commit`. Null if history does not show it: one of them is in no commit, or they were changed on
 * unrelated branches.
 */
export async function isLater(
  run: RunWorkspace,
  commit: GitSha,
  path: string,
  than: string,
): Promise<boolean | null> {
  const call = { ...composeBranchCall(run), timeoutMs: orderTimeoutMs };
  const findLastChange = async (changedPath: string): Promise<string> => {
    const args = ["--literal-pathspecs", "rev-list", "-1", commit, "--", changedPath];
    return (await git({ ...call, args })).out.toString("utf8").trim();
  };
  const [changedIn, otherChangedIn] = [await findLastChange(path), await findLastChange(than)];
  if (changedIn === "" || otherChangedIn === "") return null;
  if (changedIn === otherChangedIn) return false;
  if (await isAncestor(call, otherChangedIn, changedIn)) return true;

  return (await isAncestor(call, changedIn, otherChangedIn)) ? false : null;
}
