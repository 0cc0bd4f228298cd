// edit: changes the fields of a task or a project, or the portfolio's budgets, as a person asks.

import { resolve } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { omitUndefined } from "../../kit/omit-undefined.ts";
import { whyCyclic } from "../../portfolio/planner/dependency-cycles.ts";
import type { PortfolioView, ProjectView, TaskView } from "../../portfolio/planner/state.ts";
import { runInputFields } from "../../portfolio/planner/task-changes.ts";
import { parseCriterion } from "../../portfolio/planner/task-notation.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import { type PortfolioPaths, requirePortfolio } from "../../portfolio/store/folder.ts";
import { type OpenPortfolio, withPortfolio } from "../../portfolio/store/open.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { requireAgents } from "../../project/named-agents.ts";
import { catchRefusals, refuse, respond } from "../../project/respond.ts";
import { type HubChange, planHubChange, requireFreeHubs } from "../fleet/project-hubs.ts";
import type { TaskInput } from "./add.ts";
import { requireTransition } from "./change.ts";
import {
  findSettingsRoot,
  operatorFields,
  refuseInput,
  requireBudget,
  requirePortfolioProject,
  requirePriority,
  requireProjectRepository,
  requireTask,
  requireTerms,
} from "./portfolio-input.ts";

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

type NewRepository = Awaited<ReturnType<typeof requireProjectRepository>>;
type AgentField = { readonly agent?: string };
type CommonChanges = ReturnType<typeof collectCommonChanges>;

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
    const settingsRoot = repository?.root ?? findSettingsRoot(paths, project);
    await requireTerms(context, settingsRoot, { ...input, ...agent });
    const hubChanges = await planHub(context, paths, input, project, repository);

    return withPortfolio(context, paths, (portfolio) => {
      const common = collectCommonChanges(input, agent);
      if (!isProjectId(input.id)) return editTask(context, portfolio, input, common);
      return editProject(context, portfolio, input, { common, repository, hubChanges });
    });
  });
}

const isProjectId = (id: string): boolean => id.startsWith("proj-");

/** Changes the budgets of the portfolio, which are those of all projects together. */
function editBudgets(
  context: CommandContext,
  paths: PortfolioPaths,
  { id: _id, budget, dayBudget, ...otherFields }: EditInput,
): Promise<CommandResponse> {
  return withPortfolio(context, paths, async (portfolio) => {
    const changes = omitUndefined({
      budget: budget === undefined ? undefined : requireBudget(budget),
      day_budget: dayBudget === undefined ? undefined : requireBudget(dayBudget),
    });

    const hasOtherFields = Object.values(otherFields).some((value) => value !== undefined);
    if (Object.keys(changes).length === 0 || hasOtherFields) {
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
 * Where a project is to work and land, if that is to change: another folder, another branch, or
 * both.
 */
async function chooseRepository(
  context: CommandContext,
  paths: PortfolioPaths,
  { id, repo, target }: EditInput,
): Promise<NewRepository | null> {
  const isTargetChanged = target !== undefined && isProjectId(id);
  if (repo === undefined && !isTargetChanged) return null;

  const portfolio = await readPortfolio(paths);
  const folder =
    repo === undefined
      ? requirePortfolioProject(portfolio, id).repository
      : resolve(context.cwd, repo);
  if (folder === null) return refuseInput(`${id} names no repository; give --repo too.`);

  const otherProjects = Object.values(portfolio.projects).filter(
    ({ project_id }) => project_id !== id,
  );
  const otherRepositories = otherProjects.map(({ repository }) => repository);
  return requireProjectRepository(folder, target, otherRepositories);
}

/** The change of the hub of the project's repository, if either of the two is to change. */
async function planHub(
  context: CommandContext,
  paths: PortfolioPaths,
  { id, hub }: EditInput,
  project: ProjectView | undefined,
  newRepository: NewRepository | null,
): Promise<readonly HubChange[]> {
  const isChanged = hub !== undefined || newRepository !== null;
  if (!isProjectId(id) || !isChanged) return [];

  const repository = newRepository?.root ?? project?.repository ?? null;
  const target = newRepository?.target ?? project?.target ?? "main";
  if (repository === null) return refuseInput(`${id} names no repository; give --repo too.`);
  return planHubChange(context, paths, { repository, target, hub });
}

/** The changes that a task and a project have in common. */
function collectCommonChanges({ objective, priority, budget }: EditInput, agent: AgentField) {
  return omitUndefined({
    objective,
    priority: priority === undefined ? undefined : requirePriority(priority),
    budget: budget === undefined ? undefined : requireBudget(budget),
    ...agent,
  });
}

async function editProject(
  context: CommandContext,
  portfolio: OpenPortfolio,
  input: EditInput,
  {
    common,
    repository,
    hubChanges,
  }: {
    readonly common: CommonChanges;
    readonly repository: NewRepository | null;
    readonly hubChanges: readonly HubChange[];
  },
): Promise<CommandResponse> {
  const { project_id } = requirePortfolioProject(portfolio.state, input.id);
  const changes = {
    ...common,
    ...omitUndefined({
      repository: repository?.root,
      target: repository?.target,
      slots: input.slots,
      accept_unproved: input.acceptUnproved,
    }),
  };

  const hasChanges = Object.keys(changes).length > 0;
  if (!hasChanges && input.hub === undefined) {
    refuseInput(`Nothing to change in ${project_id} was given.`);
  }

  const event = "project_updated" as const;
  const update = { ...operatorFields(context), event, project_id, changes };
  const updates = hasChanges ? [update] : [];
  await portfolio.write(...updates, ...requireFreeHubs(portfolio.state, hubChanges));
  return respondChanged(portfolio, project_id);
}

async function editTask(
  context: CommandContext,
  portfolio: OpenPortfolio,
  input: EditInput,
  common: CommonChanges,
): Promise<CommandResponse> {
  const task = requireTask(portfolio.state, input.id);
  const { task_id, status } = task;
  const changes = { ...common, ...collectTaskChanges(portfolio.state, task, input) };
  const changedFields = Object.keys(changes);
  if (changedFields.length === 0) refuseInput(`Nothing to change in ${task_id} was given.`);
  if (status === "done" || status === "canceled") requireTransition(task_id, status, "ready");
  refuseUnderWay(task, changedFields);

  await portfolio.write({ ...operatorFields(context), event: "task_updated", task_id, changes });
  return respondChanged(portfolio, task_id);
}

function respondChanged({ warnings }: OpenPortfolio, id: string): CommandResponse {
  return respond("ok", { message: `${id} is changed.`, warnings, data: { id } });
}

/** The fields of a task that the input names; `--after none` removes its dependencies. */
function collectTaskChanges(state: PortfolioView, task: TaskView, input: EditInput) {
  const criteria = input.accept?.map((text) => requireCriterion(text));
  const dependencies = input.after?.length === 1 && input.after[0] === "none" ? [] : input.after;
  if (dependencies !== undefined) requireDependencies(state, task, dependencies);

  return omitUndefined({
    acceptance_criteria: criteria,
    dependencies: dependencies === undefined ? undefined : [...new Set(dependencies)],
    touches: input.touches === undefined ? undefined : [...input.touches],
    flow: input.flow,
    isolation: input.isolation,
  });
}

function requireCriterion(text: string) {
  const criterion = parseCriterion(text);
  return typeof criterion === "string" ? refuseInput(criterion) : criterion;
}

function requireDependencies(
  state: PortfolioView,
  task: TaskView,
  dependencies: readonly string[],
): void {
  for (const id of dependencies) requireTask(state, id);
  const cycle = whyCyclic(state, task.task_id, dependencies); // such as "a waits for b, and b for a"
  if (cycle !== null) refuseInput(`${cycle}.`);
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
