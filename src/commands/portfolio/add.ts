// add: creates a portfolio, and adds projects and tasks to it.

import { existsSync, readdirSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { draftTasks, limitProblems, type TaskDraft } from "../../portfolio/planner/draft-tasks.ts";
import { createProjectId } from "../../portfolio/planner/ids.ts";
import type { TaskView } from "../../portfolio/planner/state.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { requireAgents } from "../../project/named-agents.ts";
import { ensureFolderBelow, requireNoLink } from "../../project/own-folder.ts";
import { catchRefusals, respond } from "../../project/respond.ts";
import { plural } from "../../views/wording.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import {
  bindPortfolio,
  findPortfolio,
  type PortfolioPaths,
  portfolioAt,
  requirePortfolio,
  whyForeign,
} from "../../portfolio/store/folder.ts";
import { type OpenPortfolio, withPortfolio } from "../../portfolio/store/open.ts";
import { planHubChange, requireFreeHubs } from "../fleet/project-hubs.ts";
import { adoptPortfolio } from "./adopt.ts";
import { adoptSnapshots } from "./adopt-snapshots.ts";
import {
  listRepositories,
  createRandomTaskId,
  operatorFields,
  refuseInput,
  requireBudget,
  requirePriority,
  requireProjectRepository,
  requireTerms,
  findSettingsRoot,
} from "./portfolio-input.ts";

type NewPortfolio = {
  readonly name?: string | undefined;
  readonly budget?: string | undefined;
  readonly dayBudget?: string | undefined;
};

/**
 * Creates a portfolio in this folder, from another tool's files if there are any. One of another
 * user's that is here is adopted instead.
 */
export function initPortfolio(
  context: CommandContext,
  input: NewPortfolio,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = portfolioAt(resolve(context.cwd));
    if (findPortfolio(context.cwd)?.root !== paths.root) {
      return createPortfolio(context, paths, input);
    }

    if (whyForeign(context, paths) !== null) return adoptPortfolio(context, {});
    return respond("ok", {
      message: `There is a portfolio in ${paths.root} already.`,
      data: { root: paths.root },
    });
  });
}

async function createPortfolio(
  context: CommandContext,
  paths: PortfolioPaths,
  input: NewPortfolio,
): Promise<CommandResponse> {
  const { root, ownFolder, pagesFolder } = paths;
  for (const folder of [ownFolder, pagesFolder]) {
    requireNoLink(root, relative(root, folder));
  } // before anything is made

  const hasFiles = existsSync(pagesFolder) && readdirSync(pagesFolder).length > 0;
  const budget = requireBudget(input.budget);
  const day_budget = requireBudget(input.dayBudget);
  const folderName = root.split("/").at(-1) || "portfolio";
  const name = input.name ?? folderName;
  ensureFolderBelow(root, relative(root, ownFolder));

  return withPortfolio(context, paths, async (portfolio) => {
    const event = "portfolio_created";
    await portfolio.write({ ...operatorFields(context), event, name, budget, day_budget });
    bindPortfolio(context, paths);
    if (hasFiles) portfolio.warnings.push(...(await adoptSnapshots(context, portfolio)));

    return respond("ok", {
      message: hasFiles
        ? `The portfolio that was in ${pagesFolder} is taken up: ${describeCounts(portfolio)}.`
        : `Made a portfolio in ${root}.`,
      warnings: portfolio.warnings,
      remediation: ['autopilot portfolio add project NAME --repo DIR --objective "…"'],
      data: { root, taken_up: hasFiles },
    });
  });
}

function describeCounts({ state }: OpenPortfolio): string {
  const projectCount = Object.keys(state.projects).length;
  const taskCount = Object.keys(state.tasks).length;
  return `${plural(projectCount, "project")} and ${plural(taskCount, "task")}`;
}

export type ProjectInput = {
  readonly name: string;
  readonly repo?: string | undefined;
  readonly objective?: string | undefined;
  readonly priority?: number | undefined;
  readonly budget?: string | undefined;
  readonly target?: string | undefined;
  readonly hub?: string | undefined;
  readonly slots?: number | undefined;
  readonly acceptUnproved?: boolean | undefined;
  readonly agent?: string | undefined;
};

/** Adds a project; its repository, agent and hub are checked before anything is written. */
export function addProject(context: CommandContext, input: ProjectInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = requirePortfolio(context);
    if (input.name.trim() === "") refuseInput("A project needs a name.");

    const folder = resolve(context.cwd, input.repo ?? ".");
    const otherRepositories = await listRepositories(paths);
    const { root, target } = await requireProjectRepository(
      folder,
      input.target,
      otherRepositories,
    );
    const agent = readAgentField(context, input);
    await requireTerms(context, root, agent);

    const expected = await readPortfolio(paths);
    const hubRequest = { repository: root, target, hub: input.hub, expected };
    const hubChanges = await planHubChange(context, paths, hubRequest);

    return withPortfolio(context, paths, async (portfolio) => {
      const project_id = createFreeId(portfolio, input.name);
      const sharingWarnings = listSharingWarnings(portfolio, root);
      const fields = {
        name: input.name,
        objective: input.objective ?? "",
        repository: root,
        target,
        priority: requirePriority(input.priority),
        slots: input.slots ?? 1,
        budget: requireBudget(input.budget),
        accept_unproved: input.acceptUnproved === true,
        paused: false,
        ...agent,
      };

      await portfolio.write(
        { ...operatorFields(context), event: "project_created", project_id, fields },
        ...requireFreeHubs(portfolio.state, hubChanges),
      );

      return respond("ok", {
        message: `Added ${project_id}; finished work is merged into ${target} of ${root}.`,
        warnings: addWarnings(portfolio, sharingWarnings),
        remediation: [
          `autopilot portfolio add task ${project_id} "what is to be done" --accept "text :: command"`,
        ],
        data: { id: project_id, repository: root, target },
      });
    });
  });
}

function readAgentField(
  context: CommandContext,
  { agent }: { readonly agent?: string | undefined },
): { readonly agent?: string } {
  return agent === undefined ? {} : { agent: requireAgents(context.cwd, agent) };
}

/** A new project's id; refuses a name that another project has. */
function createFreeId({ state }: OpenPortfolio, projectName: string): string {
  const namesake = Object.values(state.projects).find(({ name }) => name === projectName);
  if (namesake !== undefined) {
    refuseInput(`There is a project ${projectName} already: ${namesake.project_id}.`);
  }

  return createProjectId(projectName, (id) => state.projects[id] !== undefined);
}

function listSharingWarnings({ state }: OpenPortfolio, repository: string): readonly string[] {
  const sharing = Object.values(state.projects).filter(
    (project) => project.repository === repository,
  );

  return sharing.map(
    ({ project_id }) =>
      `${project_id} works in the same repository: tasks that may change the same files wait for each other.`,
  );
}

/**
 * Adds to the portfolio's own list and returns it: warnings that come up when the pages are
 * written, later, are shown too.
 */
function addWarnings({ warnings }: OpenPortfolio, more: readonly string[]): readonly string[] {
  warnings.push(...more);
  return warnings;
}

export type TaskInput = Omit<TaskDraft, "place" | "budget"> & {
  readonly budget?: string | undefined;
};

/** Adds one task to a project. */
export function addTask(context: CommandContext, input: TaskInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = requirePortfolio(context);
    const agent = readAgentField(context, input);
    const { projects } = await readPortfolio(paths);
    const project =
      projects[input.project] ?? Object.values(projects).find(({ name }) => name === input.project);
    await requireTerms(context, findSettingsRoot(paths, project), { ...input, ...agent });

    return withPortfolio(context, paths, async (portfolio) => {
      const budget = requireBudget(input.budget);
      const id = await writeTask(context, portfolio, {
        ...input,
        ...agent,
        place: "the task",
        budget,
      });
      const task = portfolio.state.tasks[id];

      return respond("ok", {
        message: `Added ${id}, ${task?.status ?? ""}.`,
        warnings: addWarnings(portfolio, listUnprovedWarnings(task)),
        remediation: ["autopilot portfolio run"],
        data: { id, project_id: task?.project_id ?? null, status: task?.status ?? null },
      });
    });
  });
}

/** Returns the new task's id. */
async function writeTask(
  context: CommandContext,
  portfolio: OpenPortfolio,
  draft: TaskDraft,
): Promise<string> {
  const { actor } = operatorFields(context);
  const options = { actor, newId: createRandomTaskId };
  const { problems, changes, ids } = draftTasks(portfolio.state, [draft], options);
  const shownProblems = limitProblems(problems);
  if (shownProblems.length > 0) {
    refuseInput(shownProblems.join("; "), { problems: shownProblems });
  }

  await portfolio.write(...changes);
  const [id = ""] = ids;
  return id;
}

function listUnprovedWarnings(task: TaskView | undefined): readonly string[] {
  const criteria = task?.acceptance_criteria ?? [];
  const isProved = criteria.every(({ command }) => command !== null);
  if (isProved) return [];

  return [
    'A criterion has no command, so you will be asked whether it is met: --accept "text :: command" lets the runner prove it.',
  ];
}
