// run-history: a commit with a little of its past, as packs in a folder of the run. They are made
// once, and copied into the repositories of checks, and of agents that can share none.
//
// Invariants:
//   R1. Nothing in it refers to the user's repository, or borrows from it.
//   R2. A part appears whole, and stays as it is.

import { constants, existsSync } from "node:fs";
import { copyFile, mkdir, readdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import { packHistory, packInto } from "../bases/shared-history.ts";
import { erase } from "../folder.ts";
import { readShallowCommits } from "../git/shallow-commits.ts";
import type { RunWorkspace } from "../run-workspace.ts";

export type RunHistory = {
  /** Each has a part of a `.git`; together they have everything but refs and configuration. */
  readonly folders: readonly string[];
  /** Commits whose parents are missing. */
  readonly shallow: readonly GitSha[];
};

/** The history of a commit that comes after `root`, or is it. */
export async function openRunHistory(
  run: RunWorkspace,
  root: GitSha,
  commit: GitSha,
): Promise<RunHistory> {
  const past = await makeOnce(run, root, (gitDir) => writePast(run, gitDir, root));
  const shallow = readShallowCommits(join(past, ".git"));
  const packWork = (gitDir: string): Promise<void> =>
    packInto(run.shadow.call, packsIn(gitDir), commit, { without: [root], shallow });
  const work = commit === root ? [] : [await makeOnce(run, `${root}-${commit}`, packWork)];

  return { folders: [...work, past], shallow };
}

export const packsIn = (gitDir: string): string => join(gitDir, "objects", "pack");

/** Parts that are being made, by their folder: a layer and a check may want the same one at once. */
const underWay = new Map<string, Promise<void>>();

/** A part of a repository that is made once for a run or phase (R2). */
async function makeOnce(
  run: RunWorkspace,
  name: string,
  write: (gitDir: string) => Promise<void>,
): Promise<string> {
  const folder = join(run.runDir, "histories", name);
  const making = underWay.get(folder) ?? makePart(folder, write);
  underWay.set(folder, making);
  await making.finally(() => underWay.delete(folder));

  return folder;
}

async function makePart(folder: string, write: (gitDir: string) => Promise<void>): Promise<void> {
  if (existsSync(folder)) return;
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  const draft = `${folder}.draft`;
  await erase(draft); // of a process that was killed
  const gitDir = join(draft, ".git");
  await mkdir(packsIn(gitDir), { recursive: true });
  await write(gitDir);
  await rename(draft, folder);
}

/** A commit with a little of its past: the history that agents share, or packed from the user's. */
async function writePast(run: RunWorkspace, gitDir: string, commit: GitSha): Promise<void> {
  const shared = (await run.history?.(commit)) ?? null;
  for (const packs of (shared?.objects ?? []).map((objects) => join(objects, "pack"))) {
    for (const name of await readdir(packs)) {
      await copyFile(join(packs, name), join(packsIn(gitDir), name), constants.COPYFILE_FICLONE);
    }
  }

  const shallow = shared?.shallow ?? (await packHistory(run.shadow.call, packsIn(gitDir), commit));
  if (shallow.length > 0) await writeFile(join(gitDir, "shallow"), `${shallow.join("\n")}\n`);
}
