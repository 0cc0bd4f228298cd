// trees: makes a cycle's commits and copies, through a git directory of our own that borrows the
// repository's objects. In the user's git directory names are resolved and the cycle's own refs are
// kept; nothing here moves a branch or touches a checkout.
//
// Invariants:
//   T1. A copy has the files of one tree and one commit, no history: what earlier commits or cycles
//       knew is not to be found in it.
//   T2. Commits that a cycle depends on are kept by refs of its own
//       (refs/autopilot/calibrate/NAME); nothing here removes them.

import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { git, readGitLine } from "../../workspace/git/git.ts";
import type { GitContext } from "../../workspace/git/safe-git-call.ts";
import { toIdentityVariables, readIdentity } from "../../workspace/git/identity.ts";
import type { Repository } from "../../workspace/git/repository.ts";
import { erase } from "../../workspace/folder.ts";

/** A git call in a git directory of ours: the cycle's own, or a copy's. */
type OwnCall = GitContext & { readonly env: Readonly<Record<string, string>> };

export type Trees = {
  readonly repository: Repository;
  /** The commit a name resolves to; null if there is none. */
  readonly resolveCommit: (name: string) => Promise<string | null>;
  readonly resolveTree: (commit: string) => Promise<string>;
  /** Whether a commit is part of a branch's history. */
  readonly isAncestor: (commit: string, tip: string) => Promise<boolean>;
  /** The commit that the cycle keeps under a name; null if there is none. */
  readonly findKept: (name: string) => Promise<string | null>;
  /** Keeps a commit under a name of the cycle's own. */
  readonly keepCommit: (name: string, commit: string) => Promise<void>;
  /** Edits an index that holds a tree; returns the new tree. */
  readonly editTree: (tree: string, edit: (call: OwnCall) => Promise<void>) => Promise<string>;
  /** A three-way merge: the changes from `base` to `theirs`, applied to `ours`. */
  readonly mergeTrees: (
    base: string,
    ours: string,
    theirs: string,
  ) => Promise<{ readonly tree: string } | { readonly conflicts: readonly string[] }>;
  readonly commit: (tree: string, parent: string, message: string) => Promise<string>;
  readonly listChangedFiles: (from: string, to: string) => Promise<readonly string[]>;
  /** The text of a file in a commit; null if there is no such file, or it is too large. */
  readonly readFile: (commit: string, path: string) => Promise<string | null>;
  /** Whether a commit has a file or folder at a path. */
  readonly hasPath: (commit: string, path: string) => Promise<boolean>;
  /** Makes a folder with the files of a commit, except those at the paths in `without`. */
  readonly makeCopy: (folder: string, commit: string, without: readonly string[]) => Promise<void>;
  /**
   * Adds everything in a copy as it is now; returns its tree, whose objects are in the user's
   * repository.
   */
  readonly writeCopyTree: (folder: string) => Promise<string>;
};

const textBytesMax = 16 << 20;
const messageCharsMax = 300;

/** `hub` is the folder of the cycle's own git directory, which borrows the repository's objects. */
export async function openTrees(
  repository: Repository,
  cycle: string,
  hub: string,
): Promise<Trees> {
  const { root, commonDir, gitDir, format } = repository;
  const objects = join(commonDir, "objects");
  if (!existsSync(join(hub, "HEAD"))) await initHub(root, hub, format);

  const identity = toIdentityVariables(await readIdentity(root));
  const userCall = { cwd: root, env: { GIT_DIR: gitDir } };
  const hubEnv = { GIT_DIR: hub, GIT_OBJECT_DIRECTORY: objects };
  const hubCall: OwnCall = { cwd: hub, isOwn: true, env: hubEnv };
  const authorCall: OwnCall = { ...hubCall, env: { ...hubEnv, ...identity } };
  const refName = (name: string): string => `refs/autopilot/calibrate/${cycle}/${name}`;

  return {
    repository,
    resolveCommit: (name) => resolve(userCall, `${name}^{commit}`),
    resolveTree: (commit) => readGitLine({ ...hubCall, args: ["rev-parse", `${commit}^{tree}`] }),
    isAncestor: (commit, tip) => succeeds(userCall, ["merge-base", "--is-ancestor", commit, tip]),
    findKept: (name) => resolve(userCall, refName(name)),
    async keepCommit(name, commit) {
      await git({ ...userCall, args: ["update-ref", refName(name), commit] }); // T2
    },
    editTree: (tree, edit) => editTree(hubCall, tree, edit),
    mergeTrees: (base, ours, theirs) => mergeInHub(authorCall, { base, ours, theirs }),
    commit: (tree, parent, message) =>
      readGitLine({
        ...authorCall,
        args: ["commit-tree", tree, "-p", parent, "-F", "-"],
        input: [Buffer.from(message)],
      }),
    listChangedFiles: (from, to) => listChangedFiles(hubCall, from, to),
    readFile: (commit, path) => readFile(hubCall, `${commit}:${path}`),
    hasPath: (commit, path) =>
      succeeds(hubCall, ["cat-file", "-e", `${commit}:${path === "." ? "" : path}`]),
    makeCopy: (folder, commit, without) => makeCopy({ folder, format, objects }, commit, without),
    writeCopyTree: (folder) => writeCopyTree(hubEnv, folder),
  };
}

async function initHub(root: string, hub: string, format: string): Promise<void> {
  const options = ["--bare", "--template=", `--object-format=${format}`, "--initial-branch=none"];
  await git({ cwd: root, args: ["init", "-q", ...options, "--", hub] });
}

async function resolve(call: GitContext, name: string): Promise<string | null> {
  const args = ["rev-parse", "-q", "--verify", "--end-of-options", name];
  const { code, out } = await git({ ...call, args, acceptedExitCodes: [0, 1, 128] });
  return code === 0 ? out.toString("utf8").trim() : null;
}

async function succeeds(call: GitContext, args: readonly string[]): Promise<boolean> {
  const { code } = await git({ ...call, args: [...args], acceptedExitCodes: [0, 1, 128] });
  return code === 0;
}

async function editTree(
  hubCall: OwnCall,
  tree: string,
  edit: (call: OwnCall) => Promise<void>,
): Promise<string> {
  const index = join(hubCall.cwd, `index-${process.pid}-${++indexCount}`); // benchmarks run side by side
  const call = { ...hubCall, env: { ...hubCall.env, GIT_INDEX_FILE: index } };

  try {
    await git({ ...call, args: ["read-tree", tree] });
    await edit(call);
    return await readGitLine({ ...call, args: ["write-tree"] });
  } finally {
    await rm(index, { force: true });
    await rm(`${index}.lock`, { force: true });
  }
}

async function listChangedFiles(
  call: OwnCall,
  from: string,
  to: string,
): Promise<readonly string[]> {
  const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to, "--"];
  const { out } = await git({ ...call, args });
  const paths = out.toString("utf8").split("\0");
  return paths.filter((path) => path !== "");
}

async function readFile(call: OwnCall, blob: string): Promise<string | null> {
  const { code, out, isCut } = await git({
    ...call,
    args: ["cat-file", "blob", blob],
    acceptedExitCodes: [0, 128],
    outputBytesMax: textBytesMax,
  });
  return code === 0 && !isCut ? out.toString("utf8") : null;
}

async function makeCopy(
  { folder, format, objects }: { folder: string; format: string; objects: string },
  commit: string,
  without: readonly string[],
): Promise<void> {
  await erase(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const copy = await initCopy(folder, format, objects);
  await git({ ...copy, args: ["read-tree", commit] });

  if (without.length > 0) {
    const removal = ["rm", "-r", "-q", "-f", "--cached", "--ignore-unmatch", "--", ...without];
    await git({ ...copy, args: removal });
  }

  await git({ ...copy, args: ["checkout-index", "-a", "-f", "-q"] });
  await commitCopy(copy); // T1
}

async function writeCopyTree(hubEnv: OwnCall["env"], folder: string): Promise<string> {
  const env = { ...hubEnv, GIT_DIR: join(folder, ".git"), GIT_WORK_TREE: folder };
  const call = { cwd: folder, isOwn: true, env } as const;

  await git({ ...call, args: ["add", "-A"] });
  return readGitLine({ ...call, args: ["write-tree"] });
}

async function mergeInHub(
  call: OwnCall,
  { base, ours, theirs }: { readonly base: string; readonly ours: string; readonly theirs: string },
): ReturnType<Trees["mergeTrees"]> {
  const baseCommit = await commitAlone(call, base, []);
  const ourCommit = await commitAlone(call, ours, ["-p", baseCommit]);
  const theirCommit = await commitAlone(call, theirs, ["-p", baseCommit]);

  const options = ["--write-tree", "-z", "--name-only", "--no-messages"];
  const args = ["merge-tree", ...options, ourCommit, theirCommit];
  const { code, out, err } = await git({ ...call, args, acceptedExitCodes: [0, 1, 128, 129] });
  const [tree = "", ...names] = out.toString("utf8").split("\0");
  if (code === 0) return { tree };

  const conflicts = new Set(names.filter((name) => name !== ""));
  if (conflicts.size > 0) return { conflicts: [...conflicts] };
  return { conflicts: [err.trim().slice(0, messageCharsMax) || "git could not merge it"] };
}

/** A commit for a merge alone: an older git takes the base of a merge from history only. */
const commitAlone = (
  call: OwnCall,
  commit: string,
  parentArgs: readonly string[],
): Promise<string> =>
  readGitLine({
    ...call,
    args: ["commit-tree", `${commit}^{tree}`, ...parentArgs, "-F", "-"],
    input: [Buffer.from("merge\n")],
  });

/** Gives every temporary index of this process a name of its own. */
let indexCount = 0;

/** Makes a repository in a folder. `objects`: the object folder it borrows from. */
export async function initCopy(
  folder: string,
  format: string,
  objects: string | null,
): Promise<OwnCall> {
  const options = ["--template=", `--object-format=${format}`, "--initial-branch=main"];
  await git({ cwd: folder, args: ["init", "-q", ...options, "--", folder] });

  const gitDir = join(folder, ".git");
  const infoFolder = join(gitDir, "objects", "info");
  await mkdir(infoFolder, { recursive: true });
  if (objects !== null) await writeFile(join(infoFolder, "alternates"), `${objects}\n`);

  const env = { GIT_DIR: gitDir, GIT_WORK_TREE: folder, ...toIdentityVariables(benchmarkIdentity) };
  const call = { cwd: folder, isOwn: true, env } as const;
  await git({ ...call, args: ["config", "user.name", benchmarkIdentity.name] });
  await git({ ...call, args: ["config", "user.email", benchmarkIdentity.email] });
  return call;
}

/** Commits the index as the copy's only commit. */
export async function commitCopy(copy: OwnCall): Promise<void> {
  const tree = await readGitLine({ ...copy, args: ["write-tree"] });
  const commit = await readGitLine({
    ...copy,
    args: ["commit-tree", tree, "-F", "-"],
    input: [Buffer.from("benchmark\n")],
  });

  await git({ ...copy, args: ["update-ref", "refs/heads/main", commit] });
  await git({ ...copy, args: ["update-index", "-q", "--refresh"], acceptedExitCodes: [0, 1] });
}

/** The same for every copy: who runs a benchmark isn't a part of it. */
const benchmarkIdentity = { name: "benchmark", email: "benchmark@localhost" };
