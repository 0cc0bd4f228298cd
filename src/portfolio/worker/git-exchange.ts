// git-exchange: gives a repository's tasks copies to work in, takes their commits back, and merges
// them.
//
// Invariant:
//   X1. Only commits come back, as objects under a ref of ours; no branch of the user's is moved
//       here.

import { join } from "node:path";
import { git } from "../../workspace/git/git.ts";
import { readBranch } from "../../workspace/git/refs.ts";
import type { Repository } from "../../workspace/git/repository.ts";
import type { PortfolioPaths } from "../store/folder.ts";
import { type BranchCheckout, makeCopy } from "./exchange-copy.ts";
import { commitTree, type ExchangeGit, openExchangeGit } from "./exchange-git.ts";
import { CommitMerger, type MergeOutcome, type MergeRequest } from "../merge/merge-commits.ts";

export type { MergeOutcome } from "../merge/merge-commits.ts";

export type Exchange = {
  readonly repository: Repository;
  /** The newest commit of a branch of the user's; null if there is no such branch. */
  readonly readTip: (branch: string) => Promise<string | null>;
  /**
   * Makes a copy at a commit, with the branch checked out. Whatever was in the folder is removed.
   */
  readonly makeCopy: (folder: string, checkout: BranchCheckout) => Promise<void>;
  /** Brings a commit of a copy into the repository and keeps it under a name. */
  readonly takeCommit: (taken: TakenCommit) => Promise<void>;
  /** Keeps a commit of the repository under a name. */
  readonly keep: (name: string, commit: string) => Promise<void>;
  readonly forget: (...names: readonly string[]) => Promise<void>;
  /** The names under which commits are kept. */
  readonly listKeptNames: () => Promise<readonly string[]>;
  /**
   * Merges a task's commit onto another; if they conflict, rebases it once. The same merge is made
   * once.
   */
  readonly merge: (request: MergeRequest) => Promise<MergeOutcome>;
  /** Creates a commit of this tree in the user's name, and returns its hash. */
  readonly commitTree: (
    tree: string,
    parents: readonly string[],
    message: string,
  ) => Promise<string>;
  /** Whether the repository has this commit. */
  readonly hasCommit: (commit: string) => Promise<boolean>;
  /** Whether `newer` contains `commit`. */
  readonly isWithin: (commit: string, newer: string) => Promise<boolean>;
  /** The changed files, each with the letter of its kind: `M\tsrc/a.ts`. */
  readonly diffStat: (from: string, to: string) => Promise<string>;
};

type TakenCommit = {
  readonly copy: string;
  readonly commit: string;
  /** A commit that the repository has: what it contains is not brought over. */
  readonly since: string;
  readonly name: string;
};

/** Where our git directory for a repository is. */
export const exchangeDirectory = ({ ownFolder }: PortfolioPaths, repository: string): string =>
  join(ownFolder, "hubs", Buffer.from(repository).toString("base64url").slice(-80));

const refPrefix = "refs/autopilot/portfolio/";

/**
 * `root`: the user's repository. `ownGitDir`: where our git directory is, created if it is missing.
 */
export async function openExchange(root: string, ownGitDir: string): Promise<Exchange> {
  const exchangeGit = await openExchangeGit(root, ownGitDir);
  const { repository } = exchangeGit;
  const merger = new CommitMerger(exchangeGit);

  return {
    repository,
    readTip: (branch) => readBranch(repository, `refs/heads/${branch}`),
    makeCopy: (folder, checkout) => makeCopy(exchangeGit, folder, checkout),
    takeCommit: (taken) => takeCommit(exchangeGit, taken),
    keep: (name, commit) => keepCommit(exchangeGit, name, commit),
    forget: (...names) => forgetCommits(exchangeGit, names),
    listKeptNames: () => readKeptNames(exchangeGit),
    merge: (request) => merger.merge(request),
    commitTree: (tree, parents, message) => commitTree(exchangeGit, { tree, parents, message }),
    hasCommit: (commit) => hasCommit(exchangeGit, commit),
    isWithin: (commit, newer) => merger.isWithin(commit, newer),
    diffStat: (from, to) => diffStat(exchangeGit, from, to),
  };
}

async function hasCommit({ ours }: ExchangeGit, commit: string): Promise<boolean> {
  const args = ["cat-file", "-e", `${commit}^{commit}`];
  const { code } = await git({ ...ours, args, acceptedExitCodes: [0, 1, 128] });
  return code === 0;
}

async function diffStat({ ours }: ExchangeGit, from: string, to: string): Promise<string> {
  const args = ["diff-tree", "-r", "--name-status", "--no-renames", from, to, "--"];
  const { out } = await git({ ...ours, args });
  return out.toString("utf8").trim();
}

/** Copies the commit's objects by a pack, so that no ref or config of the copy is read. */
async function takeCommit(
  exchangeGit: ExchangeGit,
  { copy, commit, since, name }: TakenCommit,
): Promise<void> {
  const { out } = await git({
    cwd: copy,
    isOwn: true,
    env: { GIT_DIR: join(copy, ".git") },
    args: ["pack-objects", "--revs", "--stdout", "-q"],
    input: [Buffer.from(`${commit}\n^${since}\n`)],
  });

  await git({ ...exchangeGit.ours, args: ["unpack-objects", "-q"], input: [out] });
  await keepCommit(exchangeGit, name, commit);
}

/** Keeps a commit under a ref of ours in the user's repository (X1). */
async function keepCommit({ user }: ExchangeGit, name: string, commit: string): Promise<void> {
  await git({ ...user, args: ["update-ref", `${refPrefix}${name}`, commit] });
}

/** A name under which nothing is kept is ignored. */
async function forgetCommits({ user }: ExchangeGit, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;

  const input = names.map((name) => Buffer.from(`delete ${refPrefix}${name}\n`));
  await git({ ...user, args: ["update-ref", "--stdin"], input, acceptedExitCodes: [0, 1, 128] });
}

async function readKeptNames({ user }: ExchangeGit): Promise<readonly string[]> {
  const { out } = await git({ ...user, args: ["for-each-ref", "--format=%(refname)", refPrefix] });
  const refs = out.toString("utf8").split("\n");
  return refs.filter((ref) => ref !== "").map((ref) => ref.slice(refPrefix.length));
}
