// refs: reads HEAD and branches. They are small files, and are read as such; git is run only if one is not plain: packed, in a reftable, a
// link, a symbolic ref. A process for each read would cost too much.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import { readSmallFile } from "../folder.ts";
import { git, type GitContext } from "./git.ts";
import type { GitPlaces } from "./git-places.ts";

const refBytesMax = 4_096;
const objectName = /^(?:[0-9a-f]{40}|[0-9a-f]{64})\n?$/;
/** A name that means one file and nothing else. */
const plainBranch = /^refs\/heads\/(?!.*(?:\.\.|\/\/|\/\.|@\{|\.lock(?:\/|$)))[^\s~^:?*[\\\x00-\x1f\x7f.][^\s~^:?*[\\\x00-\x1f\x7f]*$/;

/** Whether a branch of this full name is stored in the one file of that name, if refs are files. */
export const isPlainBranch = (ref: string): boolean => plainBranch.test(ref);

/** The commit of a branch, by its full name; null if there is no such branch. `call`: how git is run there. */
export async function readBranch(places: GitPlaces, ref: string, call: GitContext = gitCallIn(places)): Promise<GitSha | null> {
  return readPlainRef(places, ref) ?? askGit(call, ref);
}

/** The full name of the branch that is checked out; null if HEAD is detached. */
export async function readHeadBranch(places: GitPlaces): Promise<string | null> {
  const plain = readPlainHead(places);
  if (plain !== null) return "branch" in plain ? plain.branch : null;
  const { code, out } = await git({ ...gitCallIn(places), args: ["symbolic-ref", "-q", "HEAD"], codes: [0, 1] });
  return code === 0 ? out.toString("utf8").trim() : null;
}

/** The commit HEAD is at; null if there is none yet. */
export async function readHeadCommit(places: GitPlaces): Promise<GitSha | null> {
  const plain = readPlainHead(places);
  if (plain === null) return askGit(gitCallIn(places), "HEAD");
  return "commit" in plain ? plain.commit : readBranch(places, plain.branch);
}

async function askGit(call: GitContext, name: string): Promise<GitSha | null> {
  const args = ["rev-parse", "--verify", "-q", `${name}^{commit}`];
  const { code, out } = await git({ ...call, args, codes: [0, 1, 128] });
  return code === 0 ? out.toString("utf8").trim() : null;
}

const gitCallIn = ({ root, gitDir }: GitPlaces) => ({ cwd: root, env: { GIT_DIR: gitDir } });

function readPlainRef({ commonDir }: GitPlaces, ref: string): GitSha | null {
  if (!plainBranch.test(ref) || usesReftable(commonDir)) return null;
  const text = readRefFile(join(commonDir, ref));
  return text !== null && objectName.test(text) ? text.trim() : null;
}

function readPlainHead({ gitDir, commonDir }: GitPlaces): { readonly branch: string } | { readonly commit: GitSha } | null {
  const text = usesReftable(commonDir) ? null : readRefFile(join(gitDir, "HEAD"));
  if (text === null) return null;
  if (objectName.test(text)) return { commit: text.trim() };
  const branch = /^ref: (\S+)\n?$/.exec(text)?.[1];
  return branch !== undefined && plainBranch.test(branch) ? { branch } : null;
}

const usesReftable = (commonDir: string): boolean => existsSync(join(commonDir, "reftable"));

function readRefFile(path: string): string | null {
  try {
    return readSmallFile(path, refBytesMax)?.toString("latin1") ?? null;
  } catch {
    return null; // a folder of that name, or not ours to read: git decides
  }
}
