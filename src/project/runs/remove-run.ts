// remove-run: deletes a run for good: its folder, and the branches that go with it.
//
// Invariants:
//   V1. Removing a run needs its lock: a run that a process works on is never touched.
//   V2. One rename out of `runs/` removes it: before it everything is as it was, after it only
//       cleanup remains, which the next command finishes from the list of branches in the folder.
//   V3. A branch goes only if it is on the list, still where it was, and checked out nowhere.

import { lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { GitSha } from "../../contracts/ids.ts";
import { nodeDisk } from "../../journal/disk.ts";
import { JournalFailure } from "../../journal/journal-failure.ts";
import { takeLock } from "../../journal/lock.ts";
import { erase, moveFolder, writeFileAtomically } from "../../workspace/folder.ts";
import type { Repository } from "../../workspace/git/repository.ts";
import { readRunBranches, deleteBranch, type RunBranch } from "../../workspace/git/run-branches.ts";
import { type ProjectPaths, listRuns, runFolder } from "./project-paths.ts";
import type { CommandContext } from "../command-context.ts";
import { unbindRun } from "./run-binding.ts";

const branchListFile = "removed-branches.json";
const ListedBranches = v.array(
  v.strictObject({ name: v.pipe(v.string(), v.startsWith("autopilot/run-")), commit: GitSha }),
);

const trashFolder = (paths: ProjectPaths): string => join(paths.folder, "trash");

/** Runs `work` under the run's lock; null if another process has it. V1 */
export async function whileNobodyWorks<Value>(
  folder: string,
  work: () => Promise<Value>,
): Promise<Value | null> {
  let lock;
  try {
    lock = await takeLock(nodeDisk, folder);
  } catch (error) {
    if (error instanceof JournalFailure && error.kind === "run_locked") return null;
    throw error;
  }

  try {
    return await work();
  } finally {
    lock.release();
  }
}

/** Removes a run with these branches. False if a process works on it. */
export async function removeRun(
  { env }: Pick<CommandContext, "env">,
  paths: ProjectPaths,
  repository: Repository,
  { run, branches }: { readonly run: string; readonly branches: readonly RunBranch[] },
): Promise<boolean> {
  const folder = runFolder(paths, run);
  const removed = await whileNobodyWorks(folder, async () => {
    const listed = branches
      .filter(({ isCheckedOut }) => !isCheckedOut)
      .map(({ name, commit }) => ({ name, commit })); // V3

    await writeFileAtomically(join(folder, branchListFile), `${JSON.stringify(listed)}\n`);
    mkdirSync(trashFolder(paths), { recursive: true, mode: 0o700 });
    moveFolder(folder, join(trashFolder(paths), run)); // V2

    return true;
  });
  if (removed !== true) return false;
  await finishRemovals({ env }, paths, repository);

  return true;
}

/** Finishes what an earlier removal began. V2 */
export async function finishRemovals(
  { env }: Pick<CommandContext, "env">,
  paths: ProjectPaths,
  repository: Repository,
): Promise<void> {
  const stats = lstatSync(trashFolder(paths), { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true || (stats.mode & 0o077) !== 0) return; // not what removeRun makes: it came with the repository
  for (const name of readdirSync(trashFolder(paths))) {
    const folder = join(trashFolder(paths), name);
    for (const branch of readListedBranches(folder)) {
      await deleteBranch(repository, branch.name, branch.commit);
    }

    unbindRun(env, folder, name);
    await erase(folder);
  }
}

function readListedBranches(folder: string): v.InferOutput<typeof ListedBranches> {
  try {
    return v.parse(ListedBranches, JSON.parse(readFileSync(join(folder, branchListFile), "utf8")));
  } catch {
    return [];
  }
}

/**
 * Removes runs, and branches whose work is elsewhere too; the other branches stay and are named.
 */
export async function removeRuns(
  context: Pick<CommandContext, "env">,
  paths: ProjectPaths,
  repository: Repository,
  runs: readonly { readonly run_id: string }[],
): Promise<{ readonly removed: readonly string[]; readonly kept: readonly string[] }> {
  const removed: string[] = [];
  const keptBranches: string[] = [];

  for (const { run_id } of runs) {
    const branches = await readRunBranches(repository, run_id, listRuns(paths));
    const merged = branches.filter(({ isMerged }) => isMerged);
    if (!(await removeRun(context, paths, repository, { run: run_id, branches: merged }))) continue;
    removed.push(run_id);
    keptBranches.push(
      ...branches
        .filter(({ isMerged, isCheckedOut }) => !isMerged || isCheckedOut)
        .map(({ name }) => name),
    );
  }

  return { removed, kept: keptBranches };
}
