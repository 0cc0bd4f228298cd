// collect-copies: limits the disk space of tasks' copies (the folders that their runs work in):
// copies that nobody works in any more are emptied at once, and the oldest of them are deleted if a
// quota is exceeded.
//
// Invariants:
//   C1. The copy in which an unfinished task was last dispatched is never touched, nor one that is
//       just being made. Copies of its earlier attempts are treated as those of finished tasks.
//   C2. An emptied copy keeps its run's journal and evidence, so that `report` still works, until
//       the quota needs the room.
//   C3. Beyond the quota nothing new starts.

import { existsSync, lstatSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { unbindRun } from "../../project/runs/run-binding.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { formatBytes } from "../../views/runs-page.ts";
import type { PortfolioView } from "../planner/state.ts";
import type { PortfolioPaths } from "../store/folder.ts";
import { eraseSync } from "../../workspace/folder.ts";

const keptNames: ReadonlySet<string> = new Set([".git", ".autopilot"]);
const bytesInMb = 1_000_000;

type UnusedCopy = { readonly folder: string; readonly task_id: string };

/** Copies that no worker uses any more, the oldest first (C1). */
function findUnusedCopies(
  { ownFolder }: PortfolioPaths,
  state: PortfolioView,
): readonly UnusedCopy[] {
  const copiesFolder = join(ownFolder, "copies");
  const currentNames = listCurrentCopies(state);
  const copies = [];

  for (const name of readNames(copiesFolder)) {
    const { task_id, attempt } = parseCopyName(name);
    if (currentNames.has(name) || !wasDispatched(state, task_id, attempt)) continue;

    const folder = join(copiesFolder, name);
    copies.push({ folder, task_id, modifiedMs: lstatSync(folder).mtimeMs });
  }

  return copies.toSorted((a, b) => a.modifiedMs - b.modifiedMs);
}

/** The names of the copies in which unfinished tasks were last dispatched. */
function listCurrentCopies(state: PortfolioView): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { status, copy } of Object.values(state.tasks)) {
    if (copy !== null && status !== "done" && status !== "canceled") names.add(basename(copy));
  }

  return names;
}

/** `TASK.ATTEMPT`, or `TASK.ATTEMPT-EPOCH` of a planner with a lease (prepare-task.ts). */
function parseCopyName(name: string): { readonly task_id: string; readonly attempt: number } {
  const dot = name.lastIndexOf(".");
  return { task_id: name.slice(0, dot), attempt: Number.parseInt(name.slice(dot + 1), 10) };
}

/**
 * Whether a copy's attempt was journaled. A copy that is just being made has a higher number (C1).
 */
function wasDispatched({ tasks }: PortfolioView, task_id: string, attempt: number): boolean {
  const task = tasks[task_id];
  if (task === undefined) return false;
  return attempt <= task.attempt || task.status === "done" || task.status === "canceled";
}

/**
 * Empties the copies that nobody works in any more (C2). Returns the tasks whose copies were
 * emptied now.
 */
export function emptyCopies(paths: PortfolioPaths, state: PortfolioView): readonly string[] {
  return findUnusedCopies(paths, state).flatMap(({ folder, task_id }) => {
    const names = readNames(folder).filter((name) => !keptNames.has(name));
    for (const name of names) eraseSync(join(folder, name));
    return names.length === 0 ? [] : [task_id];
  });
}

/**
 * Deletes unused copies, the oldest first, until the quota holds. Returns why nothing new may
 * start; null if there is room (C3).
 */
export function makeRoom(
  { env }: Pick<CommandContext, "env">,
  paths: PortfolioPaths,
  state: PortfolioView,
  quotaMb: number | undefined,
): string | null {
  const folder = join(paths.ownFolder, "copies");
  if (quotaMb === undefined || !existsSync(folder)) return null;

  const quotaBytes = quotaMb * bytesInMb;
  let bytes = countBytes(folder);
  for (const { folder: copy } of findUnusedCopies(paths, state)) {
    if (bytes <= quotaBytes) return null;
    bytes -= countBytes(copy);
    deleteCopy(env, copy);
  }

  if (bytes <= quotaBytes) return null;
  return `copies of open tasks take ${formatBytes(bytes)}, more than disk_quota (${quotaMb} MB)`;
}

function deleteCopy(env: CommandContext["env"], copy: string): void {
  const runs = join(copy, ".autopilot", "runs");
  for (const run of readNames(runs)) unbindRun(env, join(runs, run), run);
  eraseSync(copy);
}

function countBytes(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.size;

  let bytes = 0;
  for (const name of readNames(path)) bytes += countBytes(join(path, name));
  return bytes;
}

function readNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // gone meanwhile
  }
}
