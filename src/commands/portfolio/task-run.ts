// task-run: finds the run of a portfolio's task from the portfolio's folder, by the run's id, the
// task's id or the task's name.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import type { PortfolioView } from "../../portfolio/planner/state.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import {
  findCopy,
  findPortfolio,
  type PortfolioPaths,
  requirePortfolio,
} from "../../portfolio/store/folder.ts";
import {
  toTaskResponse,
  type FindReadingCommand,
  listNextCommands,
} from "../../portfolio/views/task-hints.ts";
import { pathsOfCopy } from "../../portfolio/worker/task-runs.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { refuse } from "../../project/respond.ts";
import { findProject, isBegun } from "../../project/runs/project-paths.ts";
import { firstFew } from "../../views/wording.ts";

/** A run, the copy it is in, and its task. */
export type TaskRun = { readonly run: string; readonly copy: string; readonly task: string };
/**
 * The same, with a function that rewrites a response's hints into commands for the portfolio's
 * folder.
 */
type FoundTaskRun = TaskRun & { readonly hinted: (response: CommandResponse) => CommandResponse };

/** The random end of a task's id, such as `-k3x9qa` of `task-fix-login-k3x9qa`. */
const idSuffix = /-[a-z0-9]{6}$/;
const hintsMax = 3;

export const isInPortfolio = (cwd: string): boolean => findPortfolio(cwd) !== null;

/**
 * The run of the task that `name` means; null if there is no portfolio here, or the folder's own
 * repository may have such a run.
 */
export async function findTaskRun(
  context: CommandContext,
  name: string,
  findReadingCommand: FindReadingCommand,
): Promise<FoundTaskRun | null> {
  if (!isInPortfolio(context.cwd)) return null;
  const paths = requirePortfolio(context);
  const state = await readPortfolio(paths);

  const addHints = (taskRun: TaskRun): FoundTaskRun => {
    const task = state.tasks[taskRun.task];
    if (task === undefined) return { ...taskRun, hinted: (response) => response };
    return {
      ...taskRun,
      hinted: (response) =>
        toTaskResponse(response, taskRun.task, listNextCommands(state, task), findReadingCommand),
    };
  };

  const taskId = findTask(state, name);
  if (taskId !== null) return addHints(requireCurrentRun(paths, state, taskId));
  const [match, ...otherMatches] = findRunsNamed(paths, name);
  if (match === undefined) return findProject(context.cwd) === null ? refuseUnknown(name) : null;
  if (otherMatches.length > 0) {
    return refuse("run_missing", {
      message: `${name} is the name of ${1 + otherMatches.length} runs here: those of ${firstFew([match, ...otherMatches].map(({ task: id }) => id))}.`,
      remediation: [match, ...otherMatches].slice(0, hintsMax).map(({ task: id }) => `--run ${id}`),
    });
  }

  return addHints(match);
}

const refuseUnknown = (name: string): never =>
  refuse("run_missing", {
    message: `No task of this portfolio, and no run of one, is called ${name}.`,
    remediation: ["autopilot portfolio status"],
  });

/** The id of the task with this id, or with this name if only one has it; null if none has. */
function findTask({ tasks }: PortfolioView, name: string): string | null {
  if (tasks[name] !== undefined) return name;
  const [match, ...otherMatches] = Object.keys(tasks).filter((id) => {
    const taskName = id.replace(idSuffix, "");
    return taskName === name || taskName === `task-${name}`;
  });
  if (otherMatches.length > 0 && match !== undefined) {
    return refuse("run_missing", {
      message: `${1 + otherMatches.length} tasks are called ${name}: ${firstFew([match, ...otherMatches])}.`,
      remediation: [match, ...otherMatches].slice(0, hintsMax).map((id) => `--run ${id}`),
    });
  }

  return match ?? null;
}

function requireCurrentRun(paths: PortfolioPaths, { tasks }: PortfolioView, id: string): TaskRun {
  const task = tasks[id];
  const copy = task === undefined ? null : findCopy(paths, task);
  const run = task?.run_id ?? null;
  if (copy === null || run === null) {
    return refuse("run_missing", {
      message: `${id} has no run yet.`,
      remediation: ["autopilot portfolio status"],
    });
  }

  if (!existsSync(copy)) {
    return refuse("run_missing", {
      message: `${run}, the run of ${id}, was removed to make room (disk_quota).`,
      remediation: [`.openclaw-autopilot/tasks/${id}.md has its result`],
    });
  }

  return { run, copy, task: id };
}

/**
 * The runs with this id in the tasks' copies. Earlier runs of a task count too, while their copies
 * are there.
 */
function findRunsNamed({ ownFolder }: PortfolioPaths, run: string): readonly TaskRun[] {
  const folder = join(ownFolder, "copies");
  const names = existsSync(folder)
    ? readdirSync(folder).filter((name) => name.startsWith("task-"))
    : [];
  return names
    .filter((name) => isBegun(pathsOfCopy(join(folder, name)), run))
    .map((name) => ({ run, copy: join(folder, name), task: name.slice(0, name.lastIndexOf(".")) }));
}
