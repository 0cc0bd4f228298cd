// collect-copies: limits the disk space of tasks' copies: copies of finished tasks are emptied at once, and the oldest are deleted if a quota
// is exceeded.
//
// Invariants:
//   C1. The copy of an unfinished task is never touched.
//   C2. An emptied copy keeps its run's journal and evidence, so that `report` still works, until the quota needs the room.
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

/** Copies that no worker uses any more, the oldest first (C1). */
function findUnusedCopies({ ownFolder }: PortfolioPaths, state: PortfolioView): readonly string[] {
  const current = new Set(
    Object.values(state.tasks).flatMap(({ status, copy }) =>
      copy === null || status === "done" || status === "canceled" ? [] : [basename(copy)],
    ),
  );
  const folder = join(ownFolder, "copies");
  const modifiedAt = new Map(readNames(folder).map((name) => [name, lstatSync(join(folder, name)).mtimeMs]));
  return [...modifiedAt]
    .filter(([name]) => !current.has(name) && isDispatched(state, name))
    .toSorted(([, a], [, b]) => a - b)
    .map(([name]) => join(folder, name));
}

/** Whether the copy's attempt was journaled. A copy that is just being made has a higher number, and is not touched. */
function isDispatched({ tasks }: PortfolioView, name: string): boolean {
  const dot = name.lastIndexOf("."); // TASK.ATTEMPT or TASK.ATTEMPT-EPOCH
  const task = tasks[name.slice(0, dot)];
  if (task === undefined) return false;
  return Number.parseInt(name.slice(dot + 1), 10) <= task.attempt || task.status === "done" || task.status === "canceled";
}

/** Empties the copies of finished tasks (C2). Returns the tasks whose copies were emptied now. */
export function emptyCopies(paths: PortfolioPaths, state: PortfolioView): readonly string[] {
  return findUnusedCopies(paths, state).flatMap((copy) => {
    const names = readNames(copy).filter((name) => !keptNames.has(name));
    for (const name of names) eraseSync(join(copy, name));
    return names.length === 0 ? [] : [basename(copy).replace(/\.\d+(-\d+)?$/, "")];
  });
}

/** Deletes copies until the quota holds. Returns why nothing new may start; null if there is room (C3). */
export function whyNoRoom(
  { env }: Pick<CommandContext, "env">,
  paths: PortfolioPaths,
  state: PortfolioView,
  quotaMb: number | undefined,
): string | null {
  const folder = join(paths.ownFolder, "copies");
  if (quotaMb === undefined || !existsSync(folder)) return null;
  let bytes = countBytes(folder);
  for (const copy of findUnusedCopies(paths, state)) {
    if (bytes <= quotaMb * bytesInMb) return null;
    bytes -= countBytes(copy);
    const runs = join(copy, ".autopilot", "runs");
    for (const run of readNames(runs)) unbindRun(env, join(runs, run), run);
    eraseSync(copy);
  }
  return bytes <= quotaMb * bytesInMb ? null : `copies of open tasks take ${formatBytes(bytes)}, more than disk_quota (${quotaMb} MB)`;
}

function countBytes(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.size;
  return readNames(path).reduce((sum, name) => sum + countBytes(join(path, name)), 0);
}

function readNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // gone already
  }
}
