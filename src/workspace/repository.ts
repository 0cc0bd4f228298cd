// repository: finds the user's repository and says whether a run can work in it. Reads only.

import { constants } from "node:fs";
import { access, realpath } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import type { GitSha } from "../contracts/ids.ts";
import type { ReasonCode } from "../contracts/reason.ts";
import { shownOf } from "./byte-path.ts";
import { WorkspaceFailed } from "./failure.ts";
import { git, gitLine, type GitAnswer } from "./git.ts";
import { ownedAlways } from "./owned.ts";
import { ownedOf } from "./scope.ts";
import { statusOf } from "./status.ts";
import { isGitlink, readTree, type ObjectFormat } from "./tree.ts";

export type Repository = {
  /** The top of the user's checkout, links resolved. */
  readonly root: string;
  readonly gitDir: string;
  /** Where objects and branches live; differs from gitDir in a linked worktree. */
  readonly commonDir: string;
  readonly format: ObjectFormat;
  /** The branch's short name; null when HEAD is detached. */
  readonly branch: string | null;
  readonly head: { readonly commit: GitSha; readonly tree: GitSha };
  /** Tracked files with uncommitted changes, the runner's own left out. */
  readonly isDirty: boolean;
  readonly submodules: number;
  /** Sentences for the preview: what is there but not part of a run. */
  readonly warnings: readonly string[];
};

export type RepositoryFailure = {
  readonly reason: Extract<ReasonCode, "not_a_repository" | "no_commits_yet" | "repository_bare" | "workspace_unusable">;
  readonly detail: string;
};

const failure = (reason: RepositoryFailure["reason"], detail: string): { readonly failure: RepositoryFailure } => ({
  failure: { reason, detail },
});

/** The innermost repository around a folder, or why it cannot hold a run. `ownedPaths` are left out of the question whether it is dirty. */
export async function openRepository(
  folder: string,
  ownedPaths: readonly string[] = [],
): Promise<{ readonly repository: Repository } | { readonly failure: RepositoryFailure }> {
  try {
    return await findRepository(resolve(folder), [...ownedAlways, ...ownedPaths]);
  } catch (error) {
    if (error instanceof WorkspaceFailed) return failure("workspace_unusable", error.message);
    throw error;
  }
}

async function findRepository(folder: string, owned: readonly string[]): ReturnType<typeof openRepository> {
  const ask = (...args: string[]): Promise<GitAnswer> => git({ cwd: folder, args: ["rev-parse", ...args], codes: [0, 128] });
  const line = (answer: GitAnswer): string => answer.out.toString("utf8").replace(/\n$/, "");

  const found = await ask("--absolute-git-dir");
  if (found.code !== 0) {
    if (/not a git repository/i.test(found.err)) return failure("not_a_repository", `${folder} is not inside a git repository.`);
    return failure("workspace_unusable", `git cannot open the repository at ${folder}: ${found.err.trim().slice(0, 500)}`);
  }
  if (line(await ask("--is-bare-repository")) === "true")
    return failure("repository_bare", `${line(found)} is a bare repository: there is no checkout to work from.`);
  const top = await ask("--show-toplevel");
  if (top.code !== 0) return failure("workspace_unusable", `${folder} is inside a git directory, not inside a checkout.`);

  const root = await realpath(line(top));
  const gitDir = await realpath(line(found));
  const common = line(await ask("--git-common-dir"));
  const commonDir = await realpath(isAbsolute(common) ? common : join(folder, common));
  const format: ObjectFormat = line(await ask("--show-object-format")) === "sha256" ? "sha256" : "sha1";

  const inRoot = { cwd: root, env: { GIT_DIR: gitDir, GIT_WORK_TREE: root } };
  const commit = await git({ ...inRoot, args: ["rev-parse", "--verify", "-q", "HEAD^{commit}"], codes: [0, 1, 128] });
  if (commit.code !== 0) return failure("no_commits_yet", `The repository at ${root} has no commit to start from.`);
  const head = { commit: line(commit), tree: await gitLine({ ...inRoot, args: ["rev-parse", "--verify", "HEAD^{tree}"] }) };
  const symbolic = await git({ ...inRoot, args: ["symbolic-ref", "-q", "--short", "HEAD"], codes: [0, 1] });
  const branch = symbolic.code === 0 ? line(symbolic) : null;

  for (const path of [root, commonDir, join(commonDir, "objects")]) {
    if (!(await mayWrite(path)))
      return failure("workspace_unusable", `${path} cannot be written to, so a run cannot keep its files there.`);
  }

  const status = await statusOf({ root, gitDir }, ownedOf(owned));
  const tree = await readTree(inRoot, head.commit);
  const submodules = [...tree].filter(([, entry]) => isGitlink(entry));
  const warnings = [
    ...(status.changed.length > 0
      ? [
          `${status.changed.length} file(s) with uncommitted changes are not part of the run: it works from commit ${head.commit.slice(0, 12)}.`,
        ]
      : []),
    ...(branch === null ? ["HEAD is detached, so the work stays on its own branch and will not be merged for you."] : []),
    ...(submodules.length > 0
      ? [
          `Submodules are left as they are and stay empty for the agent: ${submodules
            .slice(0, 5)
            .map(([path]) => shownOf(path))
            .join(", ")}.`,
        ]
      : []),
  ];
  return {
    repository: {
      root,
      gitDir,
      commonDir,
      format,
      branch,
      head,
      isDirty: status.changed.length > 0,
      submodules: submodules.length,
      warnings,
    },
  };
}

async function mayWrite(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
