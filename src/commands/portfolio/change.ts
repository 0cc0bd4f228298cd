// change: changes a portfolio as a person asks: the state of a task, pauses, fields of tasks and
// projects, budgets.

import { resolve } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import type { PortfolioTaskStatus } from "../../contracts/portfolio.ts";
import type { PortfolioChange } from "../../contracts/portfolio-journal.ts";
import { parseCriterion } from "../../portfolio/planner/task-notation.ts";
import { whyCyclic } from "../../portfolio/planner/dependency-cycles.ts";
import { listOpenBlocks, type ProjectView, type TaskView } from "../../portfolio/planner/state.ts";
import { mayTransition, runInputFields } from "../../portfolio/planner/task-changes.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { requireAgents } from "../../project/named-agents.ts";
import { catchRefusals, refuse, respond } from "../../project/respond.ts";
import {
  requireBudget,
  refuseInput,
  operatorFields,
  requirePriority,
  requireProjectRepository,
  requirePortfolioProject,
  requireTask,
  requireTerms,
  findSettingsRoot,
} from "./portfolio-input.ts";
import type { TaskInput } from "./add.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import { type PortfolioPaths, requirePortfolio } from "../../portfolio/store/folder.ts";
import { type OpenPortfolio, withPortfolio } from "../../portfolio/store/open.ts";
import { type HubChange, planHubChange, requireFreeHubs } from "../fleet/project-hubs.ts";
import { findUnchargedUsage } from "../../portfolio/worker/charge-usage.ts";

/** Makes a task ready or cancels it; its open questions are answered with the reason. */
export function moveTask(
  context: CommandContext,
  input: { readonly task: string; readonly to: "ready" | "canceled"; readonly because: string },
): Promise<CommandResponse> {
  return catchRefusals(async () =>
    withPortfolio(context, requirePortfolio(context), async (portfolio) => {
      const task = requireTask(portfolio.state, input.task);
      const { task_id, status } = task;
      requireTransition(task_id, status, input.to);
      const usageChanges = await findUnchargedUsage(portfolio.paths, task);
      if (usageChanges.length > 0) await portfolio.write(...usageChanges);
      const blocks = listOpenBlocks(portfolio.state).filter((block) => block.task_id === task_id);

      const resolved = blocks.map(({ block_id, content }): PortfolioChange => ({
        ...operatorFields(context),
        event: "block_resolved",
        block_id,
        content,
        answer: input.because,
      }));
      // The last answer makes a blocked task ready by itself.
      await portfolio.write(...resolved);

      if (portfolio.state.tasks[task_id]?.status !== input.to) {
        await portfolio.write({
          ...operatorFields(context),
          event: "task_status_changed",
          task_id,
          to_status: input.to,
          because: input.because,
        });
      }

      return respond("ok", {
        message: `${task_id} is ${input.to}.`,
        warnings: portfolio.warnings,
        data: { id: task_id, status: input.to },
      });
    }),
  );
}

function requireTransition(
  task_id: string,
  from: PortfolioTaskStatus,
  to: PortfolioTaskStatus,
): void {
  if (mayTransition(from, to)) return;
  const hint = to === "ready" ? " autopilot portfolio status says what it waits for." : "";
  refuse("invalid_status_transition", {
    message:
      from === to
        ? `${task_id} is ${to} already.${hint}`
        : `${task_id} is ${from}, so it cannot become ${to}.`,
    state: from,
    data: { task_id, from, to },
  });
}

/** Pauses or resumes dispatching, of one project or of all. */
export function pausePortfolio(
  context: CommandContext,
  input: { readonly project?: string | undefined; readonly paused: boolean },
): Promise<CommandResponse> {
  return catchRefusals(async () =>
    withPortfolio(context, requirePortfolio(context), async (portfolio) => {
      const { paused } = input;
      const project_id =
        input.project === undefined
          ? null
          : requirePortfolioProject(portfolio.state, input.project).project_id;
      if (project_id === null) {
        await portfolio.write({ ...operatorFields(context), event: "portfolio_updated", paused });
      } else {
        await portfolio.write({
          ...operatorFields(context),
          event: "project_updated",
          project_id,
          changes: { paused },
        });
      }

      const subject = project_id ?? "The portfolio";
      return respond("ok", {
        message: paused
          ? `${subject} is paused: nothing new is dispatched, and what works ends its work.`
          : `${subject} goes on.`,
        warnings: portfolio.warnings,
        data: { id: project_id },
      });
    }),
  );
}

/** `id`: a task, a project, or `portfolio`. */
export type EditInput = Omit<TaskInput, "project" | "objective" | "key" | "propose"> & {
  readonly id: string;
  readonly objective?: string | undefined;
  readonly repo?: string | undefined;
  readonly target?: string | undefined;
  readonly hub?: string | undefined;
  readonly slots?: number | undefined;
  readonly acceptUnproved?: boolean | undefined;
  readonly dayBudget?: string | undefined;
};

/** Changes the budgets of the portfolio, which are those of all projects together. */
function editBudgets(
  context: CommandContext,
  paths: PortfolioPaths,
  { id: _id, budget, dayBudget, ...otherFields }: EditInput,
): Promise<CommandResponse> {
  return withPortfolio(context, paths, async (portfolio) => {
    const changes = {
      ...(budget === undefined ? {} : { budget: requireBudget(budget) }),
      ...(dayBudget === undefined ? {} : { day_budget: requireBudget(dayBudget) }),
    };
    if (
      Object.keys(changes).length === 0 ||
      Object.values(otherFields).some((value) => value !== undefined)
    ) {
      refuseInput("Of the portfolio only --budget and --day-budget can be changed.");
    }

    await portfolio.write({ ...operatorFields(context), event: "portfolio_updated", ...changes });
    return respond("ok", {
      message: "The portfolio is changed.",
      warnings: portfolio.warnings,
      data: { id: "portfolio" },
    });
  });
}

/**
 * Changes the named fields of a task or project; everything is checked before anything is written.
 */
export function editPortfolio(context: CommandContext, input: EditInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = requirePortfolio(context);
    if (input.id === "portfolio") return editBudgets(context, paths, input);
    if (input.dayBudget !== undefined) {
      refuseInput(
        "--day-budget is for the portfolio: autopilot portfolio edit portfolio --day-budget ….",
      );
    }

    const agent =
      input.agent === undefined ? {} : { agent: requireAgents(context.cwd, input.agent) };
    const repository = await chooseRepository(context, paths, input);
    const { projects, tasks } = await readPortfolio(paths);
    const project = projects[tasks[input.id]?.project_id ?? input.id];
    await requireTerms(context, repository?.root ?? findSettingsRoot(paths, project), {
      ...input,
      ...agent,
    });

    const hub = await planHub(context, paths, input, { project, newRepository: repository });
    return withPortfolio(context, paths, async (portfolio) => {
      const common = {
        ...(input.objective === undefined ? {} : { objective: input.objective }),
        ...(input.priority === undefined ? {} : { priority: requirePriority(input.priority) }),
        ...(input.budget === undefined ? {} : { budget: requireBudget(input.budget) }),
        ...agent,
      };

      if (input.id.startsWith("proj-")) {
        const { project_id } = requirePortfolioProject(portfolio.state, input.id);
        const changes = {
          ...common,
          ...(repository === null
            ? {}
            : { repository: repository.root, target: repository.target }),
          ...(input.slots === undefined ? {} : { slots: input.slots }),
          ...(input.acceptUnproved === undefined ? {} : { accept_unproved: input.acceptUnproved }),
        };
        const hasChanges = Object.keys(changes).length > 0;
        if (!hasChanges && input.hub === undefined) {
          refuseInput(`Nothing to change in ${project_id} was given.`);
        }

        const updated = {
          ...operatorFields(context),
          event: "project_updated",
          project_id,
          changes,
        } as const;
        await portfolio.write(
          ...(hasChanges ? [updated] : []),
          ...requireFreeHubs(portfolio.state, hub),
        );

        return respond("ok", {
          message: `${project_id} is changed.`,
          warnings: portfolio.warnings,
          data: { id: project_id },
        });
      }

      const task = requireTask(portfolio.state, input.id);
      const changes = { ...common, ...collectTaskChanges(portfolio, task, input) };
      if (Object.keys(changes).length === 0) {
        refuseInput(`Nothing to change in ${task.task_id} was given.`);
      }

      if (task.status === "done" || task.status === "canceled") {
        requireTransition(task.task_id, task.status, "ready");
      }

      refuseUnderWay(task, Object.keys(changes));
      await portfolio.write({
        ...operatorFields(context),
        event: "task_updated",
        task_id: task.task_id,
        changes,
      });

      return respond("ok", {
        message: `${task.task_id} is changed.`,
        warnings: portfolio.warnings,
        data: { id: task.task_id },
      });
    });
  });
}

/**
 * Where a project is to work and land, if that is to change: another folder, another branch, or
 * both.
 */
async function chooseRepository(
  context: CommandContext,
  paths: PortfolioPaths,
  { id, repo, target }: EditInput,
) {
  if (repo === undefined && (target === undefined || !id.startsWith("proj-"))) return null;
  const { repository } =
    repo === undefined
      ? requirePortfolioProject(await readPortfolio(paths), id)
      : { repository: resolve(context.cwd, repo) };
  const others = Object.values((await readPortfolio(paths)).projects).flatMap((project) =>
    project.project_id === id ? [] : project.repository,
  );

  return repository === null
    ? refuseInput(`${id} names no repository; give --repo too.`)
    : requireProjectRepository(repository, target, others);
}

/** The change of the hub of the project's repository, if either of the two is to change. */
async function planHub(
  context: CommandContext,
  paths: PortfolioPaths,
  { id, hub }: EditInput,
  {
    project,
    newRepository,
  }: {
    readonly project: ProjectView | undefined;
    readonly newRepository: Awaited<ReturnType<typeof chooseRepository>>;
  },
): Promise<readonly HubChange[]> {
  if (!id.startsWith("proj-") || (hub === undefined && newRepository === null)) return [];
  const repository = newRepository?.root ?? project?.repository ?? null;
  const target = newRepository?.target ?? project?.target ?? "main";

  return repository === null
    ? refuseInput(`${id} names no repository; give --repo too.`)
    : planHubChange(context, paths, { repository, target, hub });
}

/**
 * Refuses to change what a run was started with until the run is over: otherwise two overlapping
 * tasks could run at once.
 */
function refuseUnderWay(
  { task_id, project_id, status, stage, run_id }: TaskView,
  keys: readonly string[],
): void {
  const fixed = keys.filter((key) => runInputFields.has(key));
  if (status !== "running" || fixed.length === 0) return;
  const activity =
    stage === "queued" ? "its work waits to be merged" : `${run_id ?? "its run"} works on it`;
  refuse("invalid_status_transition", {
    message: `${task_id} is running: ${activity}, begun with its ${fixed.join(", ").replaceAll("_", " ")}, which can't change before it is over. To change it now, take it back from its worker first.`,
    state: status,
    data: { task_id, fixed },
    remediation: [
      `autopilot portfolio pause ${project_id}`,
      `autopilot portfolio ready ${task_id}`,
      `autopilot portfolio edit ${task_id} …`,
      `autopilot portfolio resume ${project_id}`,
    ],
  });
}

/** The fields of a task that the input names; `--after none` removes its dependencies. */
function collectTaskChanges({ state }: OpenPortfolio, task: TaskView, input: EditInput) {
  const criteria = input.accept?.map((text) => parseCriterion(text));
  const problem = criteria?.find((criterion) => typeof criterion === "string");
  if (typeof problem === "string") refuseInput(problem);
  const dependencies = input.after?.length === 1 && input.after[0] === "none" ? [] : input.after;
  for (const id of dependencies ?? []) requireTask(state, id);
  const cycle = dependencies === undefined ? null : whyCyclic(state, task.task_id, dependencies); // such as "a waits for b, and b for a"
  if (cycle !== null) refuseInput(`${cycle}.`);

  return {
    ...(criteria === undefined
      ? {}
      : { acceptance_criteria: criteria.filter((criterion) => typeof criterion !== "string") }),
    ...(dependencies === undefined ? {} : { dependencies: [...new Set(dependencies)] }),
    ...(input.touches === undefined ? {} : { touches: [...input.touches] }),
    ...(input.flow === undefined ? {} : { flow: input.flow }),
    ...(input.isolation === undefined ? {} : { isolation: input.isolation }),
  };
}
