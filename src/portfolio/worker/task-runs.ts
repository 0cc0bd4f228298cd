// task-runs: finds the run of a task in its copy, and says how it ended.
// Invariants K1 and on: portfolio/worker/prepare-task.ts.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { RunView } from "../../core/state.ts";
import type { CommandContext } from "../../project/command-context.ts";
import type { Failure } from "../../project/respond.ts";
import type { LoadedRun } from "../../project/runs/loaded-run.ts";
import { isBegun, type ProjectPaths, runFolder } from "../../project/runs/project-paths.ts";
import { readRunOrNull } from "../../project/runs/read-run.ts";
import { isOwnRun } from "../../project/runs/run-binding.ts";
import type { RunEnd } from "../planner/result.ts";
import type { TaskView } from "../planner/state.ts";
import { findCopy, type PortfolioPaths } from "../store/folder.ts";

export const pathsOfCopy = (copy: string): ProjectPaths => ({
  root: copy,
  folder: join(copy, ".autopilot"),
});

/**
 * Works on a run until it rests: `go` for a draft, `resume` for one that can go on, nothing for one
 * that is over. The command passes it in, because this folder may not import `go`. Returns why the
 * run was not even begun; null if it was.
 */
export type Drive = (context: CommandContext, copy: string, run: string) => Promise<Failure | null>;

export type OpenTaskRun = {
  readonly run: string;
  readonly copy: string;
  /** Null if the run was named and never begun. */
  readonly tip: string | null;
  readonly isOver?: boolean;
  readonly loaded?: LoadedRun;
};

/** The run of a task that can go on, or whose result is still to be taken in (K2). */
export async function findOpenRun(
  context: CommandContext,
  paths: PortfolioPaths,
  task: TaskView,
): Promise<OpenTaskRun | null> {
  const { run_id: run } = task;
  const copy = findCopy(paths, task);
  if (copy === null || run === null || task.ingested || task.is_edited) return null;

  const copyPaths = pathsOfCopy(copy);
  const loadedRun = await loadTaskRun(paths, task);
  if (loadedRun === null) {
    const isNamed = existsSync(runFolder(copyPaths, run));
    return isNamed ? { run, copy, tip: null } : null;
  }

  // A run that came with a portfolio from elsewhere is never resumed; its task begins anew.
  if (!isOwnRun(context, copyPaths, run)) return null;

  const { status, tip } = loadedRun.view;
  const isOver = status === "completed" || status === "stopped";
  const loaded = { paths: copyPaths, run, ...loadedRun };
  return { run, copy, tip: tip.commit, isOver, loaded };
}

/** A task's run from its journal; null if it no longer exists. */
export async function loadTaskRun(
  paths: PortfolioPaths,
  task: TaskView,
): Promise<{ readonly view: RunView; readonly owner: { readonly pid: number } | null } | null> {
  const copy = findCopy(paths, task);
  if (copy === null || task.run_id === null || !existsSync(copy)) return null;

  const copyPaths = pathsOfCopy(copy);
  return isBegun(copyPaths, task.run_id) ? readRunOrNull(copyPaths, task.run_id) : null;
}

/** The end of a run as far as it counts for its task, from the run's journal (K3). */
export function summarizeEnd(view: RunView, hasChanges: boolean): RunEnd {
  const passed: string[] = [];
  const failed: string[] = [];
  for (const { latest } of Object.values(view.checks)) {
    const commands = latest.status === "passed" ? passed : failed;
    commands.push(latest.check.command);
  }

  return {
    is_completed: view.status === "completed" && view.verdict !== "refuted",
    has_changes: hasChanges,
    passed,
    failed,
  };
}
