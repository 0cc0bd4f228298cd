// look: what lies in commits, looked at without touching anything: what differs between two, the text of a file, whether a commit is there.

import { join } from "node:path";
import type { AttemptId, GitSha } from "../contracts/ids.ts";
import type { Difference } from "../ports/workspace.ts";
import { bytePathOf, bytePathOfText, shownOf } from "./byte-path.ts";
import { git } from "./git.ts";
import { inUser } from "./history.ts";
import { layerFolder } from "./layer.ts";
import type { OpenRun } from "./run.ts";
import { pathsWhere, treeIdOf } from "./tree.ts";
import { withTreeFolders } from "./tree-folders.ts";

export async function differencesOf(run: OpenRun, from: GitSha, to: GitSha): Promise<readonly Difference[]> {
  if (from === to) return [];
  const { out } = await git({ ...run.shadow.call, args: ["diff-tree", "-r", "-z", "--no-renames", from, to, "--"] });
  const found: Difference[] = [];
  for (let at = 0; at < out.length;) {
    const head = out.indexOf(0, at);
    const end = out.indexOf(0, head + 1);
    const [oldMode = "", mode = "", oldSha = "", sha = ""] = out.toString("latin1", at + 1, head).split(" ");
    const was = nameOf(oldMode, oldSha);
    const now = nameOf(mode, sha);
    const kind = was === null ? "added" : now === null ? "deleted" : "changed";
    found.push({ path: shownOf(bytePathOf(out.subarray(head + 1, end))), kind, was, now });
    at = end + 1;
  }
  return found;
}

const nameOf = (mode: string, sha: string): string | null => (mode === "000000" ? null : `${mode} ${sha}`);

/** The last list that was asked for: steps ask for the same commit's again and again. */
const listed = new WeakMap<OpenRun, { readonly commit: GitSha; readonly paths: Promise<readonly string[]> }>();

export function pathsAt(run: OpenRun, commit: GitSha): Promise<readonly string[]> {
  const before = listed.get(run);
  if (before?.commit === commit) return before.paths;
  const paths = pathsWhere(run.shadow.call, commit, () => true).then((found) => found.map(shownOf));
  listed.set(run, { commit, paths });
  paths.catch(() => listed.delete(run));
  return paths;
}

export async function textAt(run: OpenRun, commit: GitSha, path: string, bytesMax: number): Promise<string | null> {
  const tree = await treeIdOf(run.shadow.call, commit);
  const entry = await withTreeFolders(run.shadow.call, (folders) => folders.at(tree, bytePathOfText(path)));
  if (entry === undefined || !entry.mode.startsWith("100")) return null;
  const { out, isCut } = await git({ ...inUser(run), args: ["cat-file", "blob", entry.sha], outputBytesMax: bytesMax });
  if (isCut || out.includes(0)) return null;
  return out.toString("utf8");
}

/** Whether an agent's disposable repository holds a commit of this name, or a single one that begins so. Only its objects are read, never its settings. */
export async function hasCommit(run: OpenRun, attempt: AttemptId, name: string): Promise<boolean> {
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
 * Whether a path was last changed in a later commit than another, in the history that ends with `commit`. Null where history does not
 * tell: one of them is in no commit, or they were changed on branches that know nothing of each other.
 */
export async function isLater(run: OpenRun, commit: GitSha, path: string, than: string): Promise<boolean | null> {
  const lastOf = async (one: string): Promise<string> => {
    const args = ["--literal-pathspecs", "rev-list", "-1", commit, "--", one];
    return (await git({ ...inUser(run), args, timeoutMs: orderTimeoutMs })).out.toString("utf8").trim();
  };
  const [ours, theirs] = [await lastOf(path), await lastOf(than)];
  if (ours === "" || theirs === "") return null;
  if (ours === theirs) return false;
  const isBefore = async (old: string, young: string): Promise<boolean> =>
    (await git({ ...inUser(run), args: ["merge-base", "--is-ancestor", old, young], codes: [0, 1], timeoutMs: orderTimeoutMs })).code === 0;
  if (await isBefore(theirs, ours)) return true;
  return (await isBefore(ours, theirs)) ? false : null;
}
