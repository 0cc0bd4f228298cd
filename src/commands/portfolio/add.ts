// add: creates a portfolio, and adds projects and tasks to it.

import { existsSync, readdirSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { draftTasks, limitProblems, type TaskDraft } from "../../portfolio/planner/draft-tasks.ts";
import { createProjectId } from "../../portfolio/planner/ids.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { requireAgents } from "../../project/named-agents.ts";
import { ensureFolderBelow, requireNoLink } from "../../project/own-folder.ts";
import { catchRefusals, respond } from "../../project/respond.ts";
import { plural } from "../../views/wording.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import {
  bindPortfolio,
  findPortfolio,
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

/**
 * Creates a portfolio in this folder, from another tool's files if there are any. One of another
 * user's that is here is adopted instead.
 */
export function initPortfolio(
  context: CommandContext,
  input: {
    readonly name?: string | undefined;
    readonly budget?: string | undefined;
    readonly dayBudget?: string | undefined;
  },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = portfolioAt(resolve(context.cwd));
    if (findPortfolio(context.cwd)?.root === paths.root && whyForeign(context, paths) !== null) {
      return adoptPortfolio(context, {});
    }

    if (findPortfolio(context.cwd)?.root === paths.root) {
      return respond("ok", {
        message: `There is a portfolio in ${paths.root} already.`,
        data: { root: paths.root },
      });
    }

    for (const folder of [paths.ownFolder, paths.pagesFolder]) {
      requireNoLink(paths.root, relative(paths.root, folder));
    } // before anything is made

    const hasFiles = existsSync(paths.pagesFolder) && readdirSync(paths.pagesFolder).length > 0;
    const [budget, day_budget] = [requireBudget(input.budget), requireBudget(input.dayBudget)];
    ensureFolderBelow(paths.root, relative(paths.root, paths.ownFolder));

    return withPortfolio(context, paths, async (portfolio) => {
      await portfolio.write({
        ...operatorFields(context),
        event: "portfolio_created",
        name: input.name ?? (paths.root.split("/").at(-1) || "portfolio"),
        budget,
        day_budget,
      });

      bindPortfolio(context, paths);
      if (hasFiles) portfolio.warnings.push(...(await adoptSnapshots(context, portfolio)));
      const { projects, tasks } = portfolio.state;
      const countsText = `${plural(Object.keys(projects).length, "project")} and ${plural(Object.keys(tasks).length, "task")}`;

      return respond("ok", {
        message: hasFiles
          ? `The portfolio that was in ${paths.pagesFolder} is taken up: ${countsText}.`
          : `Made a portfolio in ${paths.root}.`,
        warnings: portfolio.warnings,
        remediation: ['autopilot portfolio add project NAME --repo DIR --objective "…"'],
        data: { root: paths.root, taken_up: hasFiles },
      });
    });
  });
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

    const repository = await requireProjectRepository(
      resolve(context.cwd, input.repo ?? "."),
      input.target,
      await listRepositories(paths),
    );

    const agent =
      input.agent === undefined ? {} : { agent: requireAgents(context.cwd, input.agent) };
    await requireTerms(context, repository.root, agent);

    const hub = await planHubChange(context, paths, {
      repository: repository.root,
      target: repository.target,
      hub: input.hub,
      expected: await readPortfolio(paths),
    });

    return withPortfolio(context, paths, async (portfolio) => {
      const { state } = portfolio;
      const namesake = Object.values(state.projects).find(({ name }) => name === input.name);
      if (namesake !== undefined) {
        refuseInput(`There is a project ${input.name} already: ${namesake.project_id}.`);
      }

      const project_id = createProjectId(input.name, (id) => state.projects[id] !== undefined);
      const sharingWarnings = Object.values(state.projects)
        .filter((project) => project.repository === repository.root)
        .map(
          (project) =>
            `${project.project_id} works in the same repository: tasks that may change the same files wait for each other.`,
        );

      const fields = {
        name: input.name,
        objective: input.objective ?? "",
        repository: repository.root,
        target: repository.target,
        priority: requirePriority(input.priority),
        slots: input.slots ?? 1,
        budget: requireBudget(input.budget),
        accept_unproved: input.acceptUnproved === true,
        paused: false,
        ...agent,
      };

      await portfolio.write(
        { ...operatorFields(context), event: "project_created", project_id, fields },
        ...requireFreeHubs(state, hub),
      );

      return respond("ok", {
        message: `Added ${project_id}; finished work is merged into ${repository.target} of ${repository.root}.`,
        warnings: addWarnings(portfolio, sharingWarnings),
        remediation: [
          `autopilot portfolio add task ${project_id} "what is to be done" --accept "text :: command"`,
        ],
        data: { id: project_id, repository: repository.root, target: repository.target },
      });
    });
  });
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
    const agent =
      input.agent === undefined ? {} : { agent: requireAgents(context.cwd, input.agent) };
    const { projects } = await readPortfolio(paths);
    const project =
      projects[input.project] ?? Object.values(projects).find(({ name }) => name === input.project);
    await requireTerms(context, findSettingsRoot(paths, project), { ...input, ...agent });

    return withPortfolio(context, paths, async (portfolio) => {
      const drafted = draftTasks(
        portfolio.state,
        [{ ...input, ...agent, place: "the task", budget: requireBudget(input.budget) }],
        {
          actor: operatorFields(context).actor,
          newId: createRandomTaskId,
        },
      );
      const problems = limitProblems(drafted.problems);
      if (problems.length > 0) refuseInput(problems.join("; "), { problems });
      await portfolio.write(...drafted.changes);
      const [id = ""] = drafted.ids;
      const task = portfolio.state.tasks[id];
      const hasUnproved =
        task?.acceptance_criteria.some(({ command }) => command === null) === true;

      return respond("ok", {
        message: `Added ${id}, ${task?.status ?? ""}.`,
        warnings: addWarnings(
          portfolio,
          hasUnproved
            ? [
                'A criterion has no command, so you will be asked whether it is met: --accept "text :: command" lets the runner prove it.',
              ]
            : [],
        ),
        remediation: ["autopilot portfolio run"],
        data: { id, project_id: task?.project_id ?? null, status: task?.status ?? null },
      });
    });
  });
}
