// refs: reads HEAD and branches. A plain ref is a small file and is read as such, because a process
// for each read would cost too much. Git is run only for other refs: packed, in a reftable, a link,
// a symbolic ref.

import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import { readSmallFile } from "../folder.ts";
import { git } from "./git.ts";
import type { GitContext } from "./safe-git-call.ts";
import type { GitPlaces } from "./git-places.ts";

const refBytesMax = 4_096;
const objectNamePattern = /^(?:[0-9a-f]{40}|[0-9a-f]{64})\n?$/;
/**
 * A branch's full name that git accepts and that means one file: `refs/heads/main`, not
 * `refs/heads/a..b` or `refs/heads/x.lock`.
 */
const plainBranchPattern =
  /^refs\/heads\/(?!.*(?:\.\.|\/\/|\/\.|@\{|\.lock(?:\/|$)))[^\s~^:?*[\\\x00-\x1f\x7f.][^\s~^:?*[\\\x00-\x1f\x7f]*$/;

/**
 * Whether a branch of this full name is stored in the file of that name, unless it is packed or in
 * a reftable.
 */
export const isPlainBranch = (ref: string): boolean => plainBranchPattern.test(ref);

/**
 * The commit of a branch, by its full name; null if there is no such branch. `call`: how git is run
 * if the file isn't enough.
 */
export async function readBranch(
  places: GitPlaces,
  ref: string,
  call: GitContext = toGitContext(places),
): Promise<GitSha | null> {
  return readPlainRef(places, ref) ?? resolveByGit(call, ref);
}

/** The full name of the branch that is checked out; null if HEAD is detached. */
export async function readHeadBranch(places: GitPlaces): Promise<string | null> {
  const plain = readPlainHead(places);
  if (plain !== null) return "branch" in plain ? plain.branch : null;

  const { code, out } = await git({
    ...toGitContext(places),
    args: ["symbolic-ref", "-q", "HEAD"],
    acceptedExitCodes: [0, 1],
  });
  return code === 0 ? out.toString("utf8").trim() : null;
}

/**
 * The branch that the HEAD of a git folder names, in its text or, as git once wrote it, as a link;
 * null if none. Throws if it may not be read.
 */
export function readBranchOfHead(gitDir: string): string | null {
  const path = join(gitDir, "HEAD");
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
    return readlinkSync(path);
  }

  return (
    /^ref: (\S+)\s*$/.exec(readSmallFile(path, refBytesMax)?.toString("utf8") ?? "")?.[1] ?? null
  );
}

/** The commit HEAD is at; null if there is none yet. */
export async function readHeadCommit(places: GitPlaces): Promise<GitSha | null> {
  const plain = readPlainHead(places);
  if (plain === null) return resolveByGit(toGitContext(places), "HEAD");
  return "commit" in plain ? plain.commit : readBranch(places, plain.branch);
}

async function resolveByGit(call: GitContext, name: string): Promise<GitSha | null> {
  const args = ["rev-parse", "--verify", "-q", `${name}^{commit}`];
  const { code, out } = await git({ ...call, args, acceptedExitCodes: [0, 1, 128] });
  return code === 0 ? out.toString("utf8").trim() : null;
}

const toGitContext = ({ root, gitDir }: GitPlaces) => ({ cwd: root, env: { GIT_DIR: gitDir } });

function readPlainRef({ commonDir }: GitPlaces, ref: string): GitSha | null {
  if (!plainBranchPattern.test(ref) || usesReftable(commonDir)) return null;
  const text = readRefFile(join(commonDir, ref));
  return text !== null && objectNamePattern.test(text) ? text.trim() : null;
}

function readPlainHead({
  gitDir,
  commonDir,
}: GitPlaces): { readonly branch: string } | { readonly commit: GitSha } | null {
  const text = usesReftable(commonDir) ? null : readRefFile(join(gitDir, "HEAD"));
  if (text === null) return null;
  if (objectNamePattern.test(text)) return { commit: text.trim() };
  const branch = /^ref: (\S+)\n?$/.exec(text)?.[1];

  return branch !== undefined && plainBranchPattern.test(branch) ? { branch } : null;
}

const usesReftable = (commonDir: string): boolean => existsSync(join(commonDir, "reftable"));

function readRefFile(path: string): string | null {
  try {
    if (lstatSync(path).isSymbolicLink()) return null; // a link to a branch is a symbolic ref
    return readSmallFile(path, refBytesMax)?.toString("latin1") ?? null;
  } catch {
    return null; // there is none, or it is not ours to read: git decides
  }
}
