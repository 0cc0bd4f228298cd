// prepare-task: prepares an ordinary run for a task in a copy of its repository: makes the copy and
// claims a run id, or finds the run to resume.
//
// Invariants:
//   K1. Copy, run and nonce are in the journal before the agent starts.
//   K2. A run that can go on is resumed, so that its finished steps aren't repeated. A run that is
//       over is kept until its result is taken in. If the task was edited since, a new run begins.
//   K3. The result of a run is read from its own journal, never from what its agent or its process
//       said.
//   K4. An agent that replaces another one, which is at its provider's limit, begins with the
//       finished work of that one.
//   K5. A run is drafted only after the journal has named it, so that no run is lost: the next
//       planner finds the name, and drafts the run if it is missing.

import { randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { portfolioAgentDefault } from "../../contracts/config-defaults.ts";
import type { PortfolioView, ProjectView, TaskView } from "../planner/state.ts";
import { agentName } from "../planner/under-way.ts";
import { claimRunId, runFolder } from "../../project/runs/project-paths.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { refuse } from "../../project/respond.ts";
import { findClone } from "../store/clones.ts";
import type { PortfolioPaths } from "../store/folder.ts";
import { beginDraft } from "./begin-draft.ts";
import { openProjectExchange, type ProjectExchange } from "./exchange-for.ts";
import { raiseLimits } from "./raise-limits.ts";
import { buildRunInput, type RunTerms } from "./run-input.ts";
import { findOpenRun, type OpenTaskRun, pathsOfCopy } from "./task-runs.ts";

export type PreparedTask = {
  readonly run: string;
  readonly copy: string;
  readonly base: string;
  /**
   * The commit of the target branch that the copy begins at; null if the journal has it from an
   * earlier dispatch.
   */
  readonly tip: string | null;
  readonly isResumed: boolean;
  readonly nonce: string;
  readonly agent: string;
  readonly conflicts: readonly string[];
  /** After the dispatch is journaled: makes sure that the run is there. */
  readonly begin: () => Promise<void>;
};

type NamedRun = Omit<PreparedTask, "begin">;

export type TaskToPrepare = {
  readonly task: TaskView;
  readonly project: ProjectView;
  /** Names the hubs of repositories. */
  readonly state: Pick<PortfolioView, "hubs" | "projects">;
};

/**
 * Makes a copy for a task and claims a run id, or finds the run to resume. `begin` drafts the run
 * once the journal names it (K5).
 */
export async function prepareTask(
  context: CommandContext,
  paths: PortfolioPaths,
  taskFacts: TaskToPrepare,
  request: RunTerms & { readonly agent: string },
): Promise<PreparedTask> {
  const { task, project } = taskFacts;
  const lastRun = await findOpenRun(context, paths, task);
  const resumedRun = lastRun === null ? null : resumeRun(task, lastRun, request.agent);
  if (resumedRun !== null && lastRun?.loaded !== undefined) {
    const copyContext = { ...context, cwd: resumedRun.copy };
    await raiseLimits(copyContext, lastRun.loaded, task, request.allowance);
  }

  const namedRun = resumedRun ?? (await nameNewRun(paths, taskFacts, lastRun, request.agent));
  const { run, copy, nonce, conflicts } = namedRun;
  const copyOf = project.repository === null ? undefined : findClone(paths, project.repository);
  const input = { ...buildRunInput(task, nonce, conflicts, request), copyOf, newId: run };

  return { ...namedRun, begin: () => beginDraft(context, task, { copy, nonce, input }) };
}

/**
 * The last run of a task, to go on with it (K2); null if the task begins a new one, because another
 * agent takes over (K4), say.
 */
function resumeRun(
  { chosen, base, event_nonce: nonce, conflicts, worker_agent_id }: TaskView,
  { run, copy, tip, isOver }: OpenTaskRun,
  agent: string,
): NamedRun | null {
  const isSameAgent = chosen === null || chosen === agent || isOver === true;
  if (!isSameAgent || base === null || nonce === null) return null;

  return {
    run,
    copy,
    base,
    tip: null,
    nonce,
    conflicts,
    isResumed: tip !== null,
    agent: worker_agent_id ?? portfolioAgentDefault,
  };
}

/** A new copy of the repository, and the id of the run that works in it. */
async function nameNewRun(
  paths: PortfolioPaths,
  { task, project, state }: TaskToPrepare,
  lastRun: OpenTaskRun | null,
  agent: string,
): Promise<NamedRun> {
  const exchange = await openProjectExchange(paths, state, project.repository ?? "");
  const start = await findStart(exchange, { task, project }, lastRun);

  const copies = join(paths.ownFolder, "copies");
  const copy = join(copies, nameCopy(paths, task));
  await exchange.makeCopy(copy, { branch: project.target, commit: start.base });
  const run = claimUniqueRunId(copies, copy);

  return {
    ...start,
    run,
    copy,
    isResumed: false,
    nonce: randomBytes(12).toString("hex"),
    agent: agentName(agent),
  };
}

/** The commit that a new copy begins at, with the work that the task's last run finished. */
async function findStart(
  exchange: ProjectExchange,
  { task, project }: Pick<TaskToPrepare, "task" | "project">,
  lastRun: OpenTaskRun | null,
): Promise<Pick<NamedRun, "base" | "tip" | "conflicts">> {
  const tip = await exchange.readTip(project.target);
  if (tip === null) {
    refuse("portfolio_input_invalid", {
      message: `${project.repository ?? ""} has no branch ${project.target}.`,
    });
  }

  await exchange.bringWork(task);
  const finished = lastRun?.tip ?? null;
  if (lastRun === null || finished === null || task.base === null) {
    return { ...(await prepareBase(exchange, task, tip)), tip };
  }

  // What the agent before has finished is brought over, for the next one to begin with (K4).
  if (finished !== task.base) {
    const { copy } = lastRun;
    await exchange.takeCommit({ copy, commit: finished, since: task.base, name: task.task_id });
  }

  return { base: finished, tip: null, conflicts: [] };
}

/**
 * Work that the queue gave back continues on a merge with the branch; conflicts are left in the
 * files for the agent to resolve.
 */
async function prepareBase(
  exchange: ProjectExchange,
  task: TaskView,
  tip: string,
): Promise<Pick<NamedRun, "base" | "conflicts">> {
  if (task.returned_by !== "queue" || task.commit === null) return { base: tip, conflicts: [] };

  const message = `Merge ${task.task_id} to go on with it\n`;
  const merged = await exchange.merge({ onto: tip, commit: task.commit, message, tip: task.tip });
  if ("commit" in merged) return { base: merged.commit, conflicts: [] };
  if (merged.marked === null) return { base: tip, conflicts: [] };

  const base = await exchange.commitTree(merged.marked, merged.parents, message);
  return { base, conflicts: merged.conflicts };
}

/** A pool that lost the portfolio and wakes must not meet the copy that its successor makes. */
function nameCopy({ planner }: PortfolioPaths, { task_id, attempt }: TaskView): string {
  const epochText = planner === undefined ? "" : `-${planner.lease.epoch}`;
  return `${task_id}.${attempt + 1}${epochText}`;
}

/**
 * No other task's run may have the id, since people name a run by its id alone. Nothing is awaited
 * between looking and claiming.
 */
function claimUniqueRunId(copies: string, copy: string): string {
  const others = readdirSync(copies).map((name) => pathsOfCopy(join(copies, name)));
  const isTaken = (id: string): boolean => others.some((other) => existsSync(runFolder(other, id)));

  return claimRunId(pathsOfCopy(copy), systemClock.now(), isTaken);
}
