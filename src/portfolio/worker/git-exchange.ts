// git-exchange: copies of a repository that tasks work in, and the way of their commits back.
//
// Invariants:
//   X1. A copy borrows the repository's objects and has branches, index and files of its own: nothing that happens in it reaches the user.
//   X2. Only commits come back, as objects under a ref of ours; no branch of the user's is moved here.
//   X3. What was taken out of a branch does not come back with a task: where the branch no longer holds what the work is on, only the
//       task's own changes are brought over.

import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { git, type GitCall, gitLine } from "../../workspace/git/git.ts";
import { type Identity, identityEnv, readIdentity } from "../../workspace/git/identity.ts";
import { quotePath } from "../../workspace/git/shadow.ts";
import { createOwnGitDirectory } from "../../workspace/git/own-git-directory.ts";
import { readBranch, isPlainBranch } from "../../workspace/git/refs.ts";
import { findRepository, type Repository } from "../../workspace/git/repository.ts";
import { readOwnFile } from "../../project/own-file.ts";
import { findObstacle } from "../../project/own-folder.ts";
import { refuse } from "../../project/reply.ts";
import type { PortfolioPaths } from "../store/folder.ts";
import { erase } from "../../workspace/folder.ts";

export type Exchange = {
  readonly repository: Repository;
  readonly tipOf: (branch: string) => Promise<string | null>;
  /** A copy at this commit, with the branch checked out; what was there under this name is removed. */
  readonly makeCopy: (folder: string, branch: string, commit: string) => Promise<void>;
  /** Brings a commit of a copy into the repository and keeps it under the name. */
  readonly takeCommit: (copy: string, commit: string, since: string, name: string) => Promise<void>;
  /** Keeps a commit that is here under the name. */
  readonly keep: (name: string, commit: string) => Promise<void>;
  readonly forget: (...names: readonly string[]) => Promise<void>;
  /** The names under which commits are kept. */
  readonly kept: () => Promise<readonly string[]>;
  /**
   * Merges a task's commit onto another; what cannot be merged is rebased, once. `tip`: the target branch that the work is on. The same
   * merge is made once: what was proved is the very commit that lands.
   */
  readonly merge: (onto: string, commit: string, message: string, tip: string | null) => Promise<Merged>;
  readonly commitTree: (tree: string, parents: readonly string[], message: string) => Promise<string>;
  readonly has: (commit: string) => Promise<boolean>;
  readonly holds: (commit: string, within: string) => Promise<boolean>;
  readonly diffStat: (from: string, to: string) => Promise<string>;
};

const rebaseCommitsMax = 50;

/** Where it cannot be: the paths that conflict, and the tree with the conflicts marked in its files. */
export type Merged =
  | { readonly commit: string }
  | {
      readonly conflicts: readonly string[];
      readonly marked: string | null;
      /** The parents of a commit with that tree. */
      readonly parents: readonly string[];
    };

/** A repository's git directory of ours. */
export const exchangeDirectory = ({ own }: PortfolioPaths, repository: string): string =>
  join(own, "hubs", Buffer.from(repository).toString("base64url").slice(-80));

const refOf = (name: string): string => `refs/autopilot/portfolio/${name}`;

export async function openExchange(root: string, hub: string): Promise<Exchange> {
  if (!existsSync(root)) return refuse("not_a_repository", { message: `${root} is not there.` });
  const lookup = await findRepository(root);
  if ("failure" in lookup) return refuse(lookup.failure.reason, { message: `${root}: ${lookup.failure.detail}` });
  const { repository } = lookup;
  // A path that leads elsewhere by a link, or by who looks at it (/proc/self/cwd), is not the folder that its user named.
  if (repository.root !== root)
    return refuse("workspace_unusable", {
      message: `${root} is ${repository.root} now.`,
      remediation: ["autopilot portfolio edit PROJECT --repo DIR"],
    });
  const objects = join(repository.commonDir, "objects");
  await createOwnGitDirectory(repository, hub);
  /** A git directory of ours that writes into the user's objects. */
  const ours: Omit<GitCall, "args"> & { readonly env: Readonly<Record<string, string>> } = {
    cwd: hub,
    isOwn: true,
    env: { GIT_DIR: hub, GIT_OBJECT_DIRECTORY: objects },
  };
  const user = { cwd: root, env: { GIT_DIR: repository.gitDir } };
  const identity = await readIdentity(root);
  const commitTree = (tree: string, parents: readonly string[], message: string): Promise<string> =>
    gitLine({
      ...ours,
      env: { ...ours.env, ...identityEnv(identity) },
      args: ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-F", "-"],
      input: [Buffer.from(message)],
    });

  /** Merges made here: what they were made of, and what they hold. */
  const mergesMade = new Map<string, { readonly onto: string; readonly commit: string; readonly tree: string }>();
  const treeOf = async (commit: string): Promise<string> =>
    mergesMade.get(commit)?.tree ?? gitLine({ ...ours, args: ["rev-parse", `${commit}^{tree}`] });
  const older = new Set<string>();
  /** A merge made here holds what it was made of, and what that holds. */
  const isWithin = async (commit: string, newer: string): Promise<boolean> => {
    for (let at: string | undefined = newer; at !== undefined; at = mergesMade.get(at)?.onto)
      if (at === commit || mergesMade.get(at)?.commit === commit || older.has(`${commit} ${at}`)) return true;
    if (!(await isAncestor(ours, commit, newer))) return false;
    older.add(`${commit} ${newer}`);
    return true;
  };
  type Trees =
    | { readonly isClean: true; readonly tree: string }
    | { readonly isClean: false; readonly tree: string | null; readonly conflicts: readonly string[] };
  const mergeTrees = async (left: string, right: string): Promise<Trees> => {
    const { code, out, err } = await git({
      ...ours,
      args: ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", left, right],
      codes: [0, 1, 128, 129],
    });
    const [tree = "", ...names] = out.toString("utf8").split("\0");
    if (code === 0) return { isClean: true, tree };
    const conflicts = [...new Set(names.filter((name) => name !== ""))];
    return {
      isClean: false,
      conflicts: conflicts.length > 0 ? conflicts : [err.trim().slice(0, 300) || "git could not merge it"],
      tree: code === 1 && /^[0-9a-f]{40,64}$/.test(tree) ? tree : null,
    };
  };
  /** What changed from `base` to `theirs`, brought over to `onto`, whatever their history is: by commits that have no other. */
  const threeWay = async (base: string, onto: string, theirs: string): Promise<Trees> => {
    const root = await commitTree(await treeOf(base), [], "base\n");
    const [left, right] = [
      await commitTree(await treeOf(onto), [root], "ours\n"),
      await commitTree(await treeOf(theirs), [root], "theirs\n"),
    ];
    return mergeTrees(left, right);
  };
  /** The commits since `base` one by one on top of `onto`; null if one of them does not fit or they aren't a straight line. */
  const rebase = async (onto: string, base: string, commit: string): Promise<string | null> => {
    const { out } = await git({
      ...ours,
      args: ["rev-list", "--reverse", "--parents", `--max-count=${rebaseCommitsMax + 1}`, `${base}..${commit}`],
    });
    const rows = out
      .toString("utf8")
      .split("\n")
      .filter((row) => row !== "")
      .map((row) => row.split(" "));
    if (rows.length < 2 || rows.length > rebaseCommitsMax || rows.some((row) => row.length !== 2)) return null; // one commit is what was merged
    let at = onto;
    for (const [one = "", parent = ""] of rows) {
      const over = await threeWay(parent, at, one);
      if (!over.isClean) return null;
      const message = (await git({ ...ours, args: ["log", "-1", "--format=%B", one] })).out.toString("utf8");
      at = await commitTree(over.tree, [at], message);
    }
    return at;
  };

  const keep = async (name: string, commit: string): Promise<void> =>
    void (await git({ ...user, args: ["update-ref", refOf(name), commit] })); // X2

  const merges = new Map<string, Promise<Merged>>();
  const merge = async (onto: string, commit: string, message: string, tip: string | null): Promise<Merged> => {
    if (onto === commit) return { commit: onto };
    if (tip !== null && !(await isWithin(tip, onto))) {
      if (await isWithin(commit, onto)) return { commit: onto };
      const over = await threeWay(tip, onto, commit);
      return over.isClean
        ? { commit: await commitTree(over.tree, [onto], message) }
        : { conflicts: over.conflicts, marked: over.tree, parents: [onto] }; // X3
    }
    const merged = await mergeTrees(onto, commit);
    // What is in already adds nothing; whatever else adds nothing is still a merge.
    if (merged.isClean && merged.tree === (await treeOf(onto)) && (await isWithin(commit, onto))) return { commit: onto };
    if (merged.isClean) {
      const mergeCommit = await commitTree(merged.tree, [onto, commit], message);
      mergesMade.set(mergeCommit, { onto, commit, tree: merged.tree });
      return { commit: mergeCommit };
    }
    const rebased = tip === null ? null : await rebase(onto, tip, commit);
    if (rebased !== null) return { commit: await commitTree(await treeOf(rebased), [onto, rebased], message) };
    return { conflicts: merged.conflicts, marked: merged.tree, parents: [onto, commit] };
  };

  return {
    repository,
    tipOf: (branch) => readBranch(repository, `refs/heads/${branch}`),
    async makeCopy(folder, branch, commit) {
      await erase(folder);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const gitDir = join(folder, ".git");
      const ref = `refs/heads/${branch}`;
      for (const name of ["info", "objects/info", "objects/pack", "refs/heads", "refs/tags"])
        await mkdir(join(gitDir, name), { recursive: true });
      await writeFile(join(gitDir, "HEAD"), `ref: ${ref}\n`);
      await writeFile(join(gitDir, "config"), copyConfig(await readFile(join(hub, "config"), "utf8"), identity));
      await writeFile(join(gitDir, "objects", "info", "alternates"), `${quotePath(objects)}\n`); // X1
      const shallow = join(repository.commonDir, "shallow");
      if (existsSync(shallow)) await copyFile(shallow, join(gitDir, "shallow"));
      const copy = { cwd: folder, isOwn: true, env: { GIT_DIR: gitDir, GIT_WORK_TREE: folder, ...identityEnv(identity) } } as const;
      if (isPlainBranch(ref)) {
        await mkdir(dirname(join(gitDir, ref)), { recursive: true });
        await writeFile(join(gitDir, ref), `${commit}\n`);
      } else await git({ ...copy, args: ["update-ref", ref, commit] });
      await git({ ...copy, args: ["read-tree", "--reset", "-u", commit] });
      const config = readOwnFile(join(root, ".autopilot", "config.yaml")); // a link could lead to any file of the user's
      if (config === null || findObstacle(folder, ".autopilot") !== null) return; // behind a link nothing is written; the run refuses it
      if (existsSync(join(folder, ".autopilot", "config.yaml"))) return;
      await mkdir(join(folder, ".autopilot"), { recursive: true, mode: 0o700 });
      await writeFile(join(folder, ".autopilot", "config.yaml"), config, { flag: "wx" });
    },
    async takeCommit(copy, commit, since, name) {
      const from = { cwd: copy, isOwn: true, env: { GIT_DIR: join(copy, ".git") } } as const;
      const { out } = await git({
        ...from,
        args: ["pack-objects", "--revs", "--stdout", "-q"],
        input: [Buffer.from(`${commit}\n^${since}\n`)],
      });
      await git({ ...ours, args: ["unpack-objects", "-q"], input: [out] });
      await keep(name, commit);
    },
    keep,
    async forget(...names) {
      // One that is not there is none to forget.
      const input = names.map((name) => Buffer.from(`delete ${refOf(name)}\n`));
      if (names.length > 0) await git({ ...user, args: ["update-ref", "--stdin"], input, codes: [0, 1, 128] });
    },
    async kept() {
      const { out } = await git({ ...user, args: ["for-each-ref", "--format=%(refname)", refOf("")] });
      return out
        .toString("utf8")
        .split("\n")
        .filter((name) => name !== "")
        .map((name) => name.slice(refOf("").length));
    },
    merge(onto, commit, message, tip) {
      const key = JSON.stringify([onto, commit, message, tip]);
      const merging = merges.get(key) ?? merge(onto, commit, message, tip);
      merges.set(key, merging);
      merging.catch(() => merges.delete(key));
      return merging;
    },
    commitTree,
    has: async (commit) => (await git({ ...ours, args: ["cat-file", "-e", `${commit}^{commit}`], codes: [0, 1, 128] })).code === 0,
    holds: isWithin,
    async diffStat(from, to) {
      return (await git({ ...ours, args: ["diff-tree", "-r", "--name-status", "--no-renames", from, to, "--"] })).out
        .toString("utf8")
        .trim();
    },
  };
}

/** As git made it for our own directory on this disk, with a checkout and in the user's name. */
const copyConfig = (made: string, { name, email }: Identity): string =>
  `${made.replace(/^(\s*bare = )true$/m, "$1false\n\tlogallrefupdates = true")}[user]\n\tname = ${inQuotes(name)}\n\temail = ${inQuotes(email)}\n`;
const inQuotes = (value: string): string => `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;

async function isAncestor(call: Omit<GitCall, "args">, older: string, newer: string): Promise<boolean> {
  return (await git({ ...call, args: ["merge-base", "--is-ancestor", older, newer], codes: [0, 1, 128] })).code === 0;
}
