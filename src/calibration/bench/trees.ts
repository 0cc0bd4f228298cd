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
import type { GitContext } from "../../workspace/git/git-call.ts";
import { toIdentityVariables, readIdentity } from "../../workspace/git/identity.ts";
import type { Repository } from "../../workspace/git/repository.ts";
import { erase } from "../../workspace/folder.ts";

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
  readonly editTree: (
    tree: string,
    edit: (call: GitContext & { readonly env: Readonly<Record<string, string>> }) => Promise<void>,
  ) => Promise<string>;
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
  const { root } = repository;
  const objects = join(repository.commonDir, "objects");

  if (!existsSync(join(hub, "HEAD"))) {
    await git({
      cwd: root,
      args: [
        "init",
        "-q",
        "--bare",
        "--template=",
        `--object-format=${repository.format}`,
        "--initial-branch=none",
        "--",
        hub,
      ],
    });
  }

  const hubCall = {
    cwd: hub,
    isOwn: true,
    env: { GIT_DIR: hub, GIT_OBJECT_DIRECTORY: objects },
  } as const;

  const userCall = { cwd: root, env: { GIT_DIR: repository.gitDir } };
  const identity = await readIdentity(root);
  const refName = (name: string): string => `refs/autopilot/calibrate/${cycle}/${name}`;

  const resolve = async (text: string): Promise<string | null> => {
    const { code, out } = await git({
      ...userCall,
      args: ["rev-parse", "-q", "--verify", "--end-of-options", text],
      codes: [0, 1, 128],
    });
    return code === 0 ? out.toString("utf8").trim() : null;
  };

  return {
    repository,
    resolveCommit: (name) => resolve(`${name}^{commit}`),
    resolveTree: (commit) => readGitLine({ ...hubCall, args: ["rev-parse", `${commit}^{tree}`] }),
    isAncestor: async (commit, tip) =>
      (
        await git({
          ...userCall,
          args: ["merge-base", "--is-ancestor", commit, tip],
          codes: [0, 1, 128],
        })
      ).code === 0,
    findKept: (name) => resolve(refName(name)),
    keepCommit: async (name, commit) =>
      void (await git({ ...userCall, args: ["update-ref", refName(name), commit] })), // T2
    async editTree(tree, edit) {
      const index = join(hub, `index-${process.pid}-${++indexCount}`); // benchmarks run side by side
      const call = { ...hubCall, env: { ...hubCall.env, GIT_INDEX_FILE: index } };

      try {
        await git({ ...call, args: ["read-tree", tree] });
        await edit(call);
        return await readGitLine({ ...call, args: ["write-tree"] });
      } finally {
        await rm(index, { force: true });
        await rm(`${index}.lock`, { force: true });
      }
    },
    mergeTrees: (base, ours, theirs) =>
      mergeInHub(
        { ...hubCall, env: { ...hubCall.env, ...toIdentityVariables(identity) } },
        { base, ours, theirs },
      ),
    commit: (tree, parent, message) =>
      readGitLine({
        ...hubCall,
        env: { ...hubCall.env, ...toIdentityVariables(identity) },
        args: ["commit-tree", tree, "-p", parent, "-F", "-"],
        input: [Buffer.from(message)],
      }),
    async listChangedFiles(from, to) {
      const { out } = await git({
        ...hubCall,
        args: ["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to, "--"],
      });
      return out
        .toString("utf8")
        .split("\0")
        .filter((path) => path !== "");
    },
    async readFile(commit, path) {
      const args = ["cat-file", "blob", `${commit}:${path}`];
      const { code, out, isCut } = await git({
        ...hubCall,
        args,
        codes: [0, 128],
        outputBytesMax: textBytesMax,
      });
      return code === 0 && !isCut ? out.toString("utf8") : null;
    },
    async hasPath(commit, path) {
      const args = ["cat-file", "-e", `${commit}:${path === "." ? "" : path}`];
      return (await git({ ...hubCall, args, codes: [0, 1, 128] })).code === 0;
    },
    async makeCopy(folder, commit, without) {
      await erase(folder);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const copy = await initCopy(folder, repository.format, objects);
      await git({ ...copy, args: ["read-tree", commit] });

      if (without.length > 0) {
        await git({
          ...copy,
          args: ["rm", "-r", "-q", "-f", "--cached", "--ignore-unmatch", "--", ...without],
        });
      }

      await git({ ...copy, args: ["checkout-index", "-a", "-f", "-q"] });
      await commitCopy(copy); // T1
    },
    async writeCopyTree(folder) {
      const call = {
        cwd: folder,
        isOwn: true,
        env: { ...hubCall.env, GIT_DIR: join(folder, ".git"), GIT_WORK_TREE: folder },
      } as const;

      await git({ ...call, args: ["add", "-A"] });
      return readGitLine({ ...call, args: ["write-tree"] });
    },
  };
}

async function mergeInHub(
  call: GitContext,
  { base, ours, theirs }: { readonly base: string; readonly ours: string; readonly theirs: string },
): ReturnType<Trees["mergeTrees"]> {
  // Commits made for this merge alone: an older git takes the base of a merge from history only.
  const commitTreeOf = async (commit: string, parents: readonly string[]): Promise<string> => {
    const args = [
      "commit-tree",
      `${commit}^{tree}`,
      ...parents.flatMap((parent) => ["-p", parent]),
      "-F",
      "-",
    ];

    return readGitLine({ ...call, args, input: [Buffer.from("merge\n")] });
  };
  const baseCommit = await commitTreeOf(base, []);
  const sides = [await commitTreeOf(ours, [baseCommit]), await commitTreeOf(theirs, [baseCommit])];
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ...sides];
  const { code, out, err } = await git({ ...call, args, codes: [0, 1, 128, 129] });
  const [tree = "", ...names] = out.toString("utf8").split("\0");
  if (code === 0) return { tree };
  const conflicts = [...new Set(names.filter((name) => name !== ""))];

  return {
    conflicts:
      conflicts.length > 0
        ? conflicts
        : [err.trim().slice(0, messageCharsMax) || "git could not merge it"],
  };
}

/** Gives every temporary index of this process a name of its own. */
let indexCount = 0;
type CopyCall = GitContext & { readonly env: Readonly<Record<string, string>> };

/** Makes a repository in a folder. `objects`: the object folder it borrows from. */
export async function initCopy(
  folder: string,
  format: string,
  objects: string | null,
): Promise<CopyCall> {
  const init = [
    "init",
    "-q",
    "--template=",
    `--object-format=${format}`,
    "--initial-branch=main",
    "--",
    folder,
  ];

  await git({ cwd: folder, args: init });
  const gitDir = join(folder, ".git");
  await mkdir(join(gitDir, "objects", "info"), { recursive: true });

  if (objects !== null) {
    await writeFile(join(gitDir, "objects", "info", "alternates"), `${objects}\n`);
  }

  const call = {
    cwd: folder,
    isOwn: true,
    env: { GIT_DIR: gitDir, GIT_WORK_TREE: folder, ...toIdentityVariables(benchmarkIdentity) },
  } as const;

  for (const [key, value] of [
    ["user.name", benchmarkIdentity.name],
    ["user.email", benchmarkIdentity.email],
  ] as const) {
    await git({ ...call, args: ["config", key, value] });
  }

  return call;
}

/** Commits the index as the copy's only commit. */
export async function commitCopy(copy: CopyCall): Promise<void> {
  const tree = await readGitLine({ ...copy, args: ["write-tree"] });
  const commit = await readGitLine({
    ...copy,
    args: ["commit-tree", tree, "-F", "-"],
    input: [Buffer.from("benchmark\n")],
  });

  await git({ ...copy, args: ["update-ref", "refs/heads/main", commit] });
  await git({ ...copy, args: ["update-index", "-q", "--refresh"], codes: [0, 1] });
}

/** The same for every copy: who runs a benchmark isn't a part of it. */
const benchmarkIdentity = { name: "benchmark", email: "benchmark@localhost" };
