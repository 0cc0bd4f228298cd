// exchange-copy: makes the copy of a repository that a task works in.
//
// Invariant:
//   C1. A copy borrows the repository's objects, and has its own branches, index and files: nothing
//       that happens in it changes the user's.

import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { git } from "../../workspace/git/git.ts";
import { type Identity, toIdentityVariables } from "../../workspace/git/identity.ts";
import { isPlainBranch } from "../../workspace/git/refs.ts";
import { quotePath } from "../../workspace/git/shadow.ts";
import { erase } from "../../workspace/folder.ts";
import { readOwnFile } from "../../project/own-file.ts";
import { findObstacle } from "../../project/own-folder.ts";
import type { ExchangeGit } from "./exchange-git.ts";

export type BranchCheckout = { readonly branch: string; readonly commit: string };

/**
 * Makes the copy at a commit, with the branch checked out. Whatever was in the folder is removed.
 */
export async function makeCopy(
  exchangeGit: ExchangeGit,
  folder: string,
  checkout: BranchCheckout,
): Promise<void> {
  await erase(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const gitDir = join(folder, ".git");
  await writeGitDirectory(exchangeGit, gitDir, checkout.branch);
  await checkOut({ folder, gitDir, identity: exchangeGit.identity }, checkout);
  await copyConfigFile(exchangeGit.repository.root, folder);
}

/** Writes an empty git directory whose objects are those of the user's repository. */
async function writeGitDirectory(
  { repository, objects, ownGitDir, identity }: ExchangeGit,
  gitDir: string,
  branch: string,
): Promise<void> {
  for (const name of ["info", "objects/info", "objects/pack", "refs/heads", "refs/tags"]) {
    await mkdir(join(gitDir, name), { recursive: true });
  }

  const ownConfig = await readFile(join(ownGitDir, "config"), "utf8");
  await writeFile(join(gitDir, "HEAD"), `ref: refs/heads/${branch}\n`);
  await writeFile(join(gitDir, "config"), createGitConfig(ownConfig, identity));
  await writeFile(join(gitDir, "objects", "info", "alternates"), `${quotePath(objects)}\n`); // C1

  const shallow = join(repository.commonDir, "shallow");
  if (existsSync(shallow)) await copyFile(shallow, join(gitDir, "shallow"));
}

type CopyFolder = { readonly folder: string; readonly gitDir: string; readonly identity: Identity };

async function checkOut(
  { folder, gitDir, identity }: CopyFolder,
  { branch, commit }: BranchCheckout,
): Promise<void> {
  const ref = `refs/heads/${branch}`;
  const copy = {
    cwd: folder,
    isOwn: true,
    env: { GIT_DIR: gitDir, GIT_WORK_TREE: folder, ...toIdentityVariables(identity) },
  } as const;

  if (isPlainBranch(ref)) {
    await mkdir(dirname(join(gitDir, ref)), { recursive: true });
    await writeFile(join(gitDir, ref), `${commit}\n`);
  } else {
    await git({ ...copy, args: ["update-ref", ref, commit] });
  }

  await git({ ...copy, args: ["read-tree", "--reset", "-u", commit] });
}

/** Copies the user's autopilot config into the copy, unless the commit has one. */
async function copyConfigFile(root: string, folder: string): Promise<void> {
  // Refuses a link, which could lead to any file of the user's.
  const config = readOwnFile(join(root, ".autopilot", "config.yaml"));
  if (config === null) return;

  // Nothing is written through a link; the run refuses it.
  if (findObstacle(folder, ".autopilot") !== null) return;

  const copyFolder = join(folder, ".autopilot");
  const copyConfig = join(copyFolder, "config.yaml");
  if (existsSync(copyConfig)) return;
  await mkdir(copyFolder, { recursive: true, mode: 0o700 });
  await writeFile(copyConfig, config, { flag: "wx" });
}

/**
 * The config that git wrote for our own directory on this disk, changed for a checkout (`bare =
 * true` → `false`) in the user's name.
 */
function createGitConfig(ownConfig: string, { name, email }: Identity): string {
  const config = ownConfig.replace(/^(\s*bare = )true$/m, "$1false\n\tlogallrefupdates = true");
  const userName = quoteConfigValue(name);
  const userEmail = quoteConfigValue(email);

  return `${config}[user]\n\tname = ${userName}\n\temail = ${userEmail}\n`;
}

const quoteConfigValue = (value: string): string =>
  `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
