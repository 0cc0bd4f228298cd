// add: a portfolio is begun, and projects and tasks are added to it. Each command takes it in hand for a moment.

import { randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { type PortfolioBudget, priorityDefault, prioritiesMax } from "../../contracts/portfolio-journal.ts";
import { didYouMean } from "../../kit/suggest.ts";
import { parseBudget, draftTasks, limitProblems, type TaskDraft } from "../../portfolio/planner/backlog.ts";
import { projectIdOf, taskIdOf } from "../../portfolio/planner/ids.ts";
import type { PortfolioView, ProjectView, TaskView } from "../../portfolio/planner/state.ts";
import { git } from "../../workspace/git/git.ts";
import { findRepository } from "../../workspace/git/repository.ts";
import { toActor, type CommandContext } from "../../project/command-context.ts";
import { requireAgents } from "../../project/named-agents.ts";
import { ensureFolderBelow, requireNoLink } from "../../project/own-folder.ts";
import { catchRefusals, refuse, respond } from "../../project/respond.ts";
import { plural } from "../../views/wording.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import {
  bindPortfolio,
  findPortfolio,
  portfolioAt,
  type PortfolioPaths,
  requirePortfolio,
  whyForeign,
} from "../../portfolio/store/folder.ts";
import { type OpenPortfolio, withPortfolio } from "../../portfolio/store/open.ts";
import { cloneOf } from "../../portfolio/store/clones.ts";
import { hubChange, requireFreeHubs } from "../fleet/project-hubs.ts";
import { adoptPortfolio } from "./adopt.ts";
import { adoptSnapshots } from "./adopt-snapshots.ts";
import { knownIn, type RunTerms, termFaults } from "./run-terms.ts";

export const invalid = (message: string, data: Readonly<Record<string, unknown>> = {}): never =>
  refuse("portfolio_input_invalid", { message, data });

export const refuseUsage = (message: string): Promise<CommandResponse> => Promise.resolve(respond("usage", { message }));

export const operatorOf = (context: CommandContext) => ({ actor: toActor(context), reason_code: "ok" }) as const;
export const newTaskId = (objective: string): string => taskIdOf(objective, randomBytes(6));

export function initPortfolio(
  context: CommandContext,
  input: { readonly name?: string | undefined; readonly budget?: string | undefined; readonly dayBudget?: string | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = portfolioAt(resolve(context.cwd));
    if (findPortfolio(context.cwd)?.root === paths.root && whyForeign(context, paths) !== null) return adoptPortfolio(context, {});
    if (findPortfolio(context.cwd)?.root === paths.root)
      return respond("ok", { message: `There is a portfolio in ${paths.root} already.`, data: { root: paths.root } });
    for (const folder of [paths.own, paths.shown]) requireNoLink(paths.root, relative(paths.root, folder)); // before anything is made
    const hasFiles = existsSync(paths.shown) && readdirSync(paths.shown).length > 0;
    const [budget, day_budget] = [budgetOf(input.budget), budgetOf(input.dayBudget)];
    ensureFolderBelow(paths.root, relative(paths.root, paths.own));
    return withPortfolio(context, paths, async (open) => {
      await open.write({
        ...operatorOf(context),
        event: "portfolio_created",
        name: input.name ?? (paths.root.split("/").at(-1) || "portfolio"),
        budget,
        day_budget,
      });
      bindPortfolio(context, paths);
      if (hasFiles) open.warnings.push(...(await adoptSnapshots(context, open)));
      const countsText = `${plural(Object.keys(open.state.projects).length, "project")} and ${plural(Object.keys(open.state.tasks).length, "task")}`;
      return respond("ok", {
        message: hasFiles ? `The portfolio that was in ${paths.shown} is taken up: ${countsText}.` : `Made a portfolio in ${paths.root}.`,
        warnings: open.warnings,
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

export function addProject(context: CommandContext, input: ProjectInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = requirePortfolio(context);
    if (input.name.trim() === "") invalid("A project needs a name.");
    const repository = await repositoryOf(resolve(context.cwd, input.repo ?? "."), input.target, await repositoriesIn(paths));
    const agent = input.agent === undefined ? {} : { agent: requireAgents(context.cwd, input.agent) };
    await requireTerms(context, repository.root, agent);
    const hub = await hubChange(context, paths, {
      repository: repository.root,
      target: repository.target,
      hub: input.hub,
      expected: await readPortfolio(paths),
    });
    return withPortfolio(context, paths, async (open) => {
      const { state } = open;
      const twin = Object.values(state.projects).find(({ name }) => name === input.name);
      if (twin !== undefined) invalid(`There is a project ${input.name} already: ${twin.project_id}.`);
      const project_id = projectIdOf(input.name, (id) => state.projects[id] !== undefined);
      const sharing = Object.values(state.projects).filter((other) => other.repository === repository.root);
      const fields = {
        name: input.name,
        objective: input.objective ?? "",
        repository: repository.root,
        target: repository.target,
        priority: priorityIn(input.priority),
        slots: input.slots ?? 1,
        budget: budgetOf(input.budget),
        accept_unproved: input.acceptUnproved === true,
        paused: false,
        ...agent,
      };
      await open.write({ ...operatorOf(context), event: "project_created", project_id, fields }, ...requireFreeHubs(state, hub));
      return respond("ok", {
        message: `Added ${project_id}; finished work is merged into ${repository.target} of ${repository.root}.`,
        warnings: adding(
          open,
          sharing.map(
            ({ project_id: other }) => `${other} works in the same repository: tasks that may change the same files wait for each other.`,
          ),
        ),
        remediation: [`autopilot portfolio add task ${project_id} "what is to be done" --accept "text :: command"`],
        data: { id: project_id, repository: repository.root, target: repository.target },
      });
    });
  });
}

/** The list that what is found while drawing is added to as well. */
const adding = ({ warnings }: OpenPortfolio, more: readonly string[]): readonly string[] => {
  warnings.push(...more);
  return warnings;
};

export const repositoriesIn = async (paths: PortfolioPaths): Promise<readonly (string | null)[]> =>
  Object.values((await readPortfolio(paths)).projects).map(({ repository }) => repository);

/** A repository that can hold runs, with the branch its work is merged into. */
export async function repositoryOf(
  folder: string,
  wanted: string | undefined,
  /** The repositories of other projects. */
  others: readonly (string | null)[],
): Promise<{ readonly root: string; readonly target: string }> {
  if (!existsSync(folder)) invalid(`There is no folder ${folder}.`);
  const lookup = await findRepository(folder);
  if ("failure" in lookup) return refuse(lookup.failure.reason, { message: lookup.failure.detail });
  const { root, branch, commonDir } = lookup.repository;
  for (const other of new Set(others)) {
    const twin = other === null || other === root || !existsSync(other) ? null : await findRepository(other);
    if (twin !== null && "repository" in twin && twin.repository.commonDir === commonDir)
      invalid(
        `${root} is a worktree of the repository that another project works in: name ${twin.repository.root}, so that both share its files and its merge queue.`,
      );
  }
  const has = async (name: string): Promise<boolean> =>
    (await git({ cwd: root, args: ["rev-parse", "-q", "--verify", `refs/heads/${name}^{commit}`], codes: [0, 1, 128] })).code === 0;
  const target = wanted ?? ((await has("main")) ? "main" : (branch ?? "main"));
  if (!(await has(target))) invalid(`${root} has no branch ${target}; name the one that finished work is merged into with --target.`);
  return { root, target };
}

export type TaskInput = Omit<TaskDraft, "place" | "budget"> & { readonly budget?: string | undefined };

export function addTask(context: CommandContext, input: TaskInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = requirePortfolio(context);
    const agent = input.agent === undefined ? {} : { agent: requireAgents(context.cwd, input.agent) };
    const { projects } = await readPortfolio(paths);
    const project = projects[input.project] ?? Object.values(projects).find(({ name }) => name === input.project);
    await requireTerms(context, rootOf(paths, project), { ...input, ...agent });
    return withPortfolio(context, paths, async (open) => {
      const drafted = draftTasks(open.state, [{ ...input, ...agent, place: "the task", budget: budgetOf(input.budget) }], {
        actor: operatorOf(context).actor,
        newId: newTaskId,
      });
      const problems = limitProblems(drafted.problems);
      if (problems.length > 0) invalid(problems.join("; "), { problems });
      await open.write(...drafted.changes);
      const [id = ""] = drafted.ids;
      const task = open.state.tasks[id];
      const unproved = task?.acceptance_criteria.some(({ command }) => command === null) === true;
      return respond("ok", {
        message: `Added ${id}, ${task?.status ?? ""}.`,
        warnings: adding(
          open,
          unproved
            ? ['A criterion has no command, so you will be asked whether it is met: --accept "text :: command" lets the runner prove it.']
            : [],
        ),
        remediation: ["autopilot portfolio run"],
        data: { id, project_id: task?.project_id ?? null, status: task?.status ?? null },
      });
    });
  });
}

/** Where flows and settings of a project's tasks are: its repository on this machine. */
export const rootOf = (paths: PortfolioPaths, project: ProjectView | undefined): string =>
  project === undefined || project.repository === null ? paths.root : cloneOf(paths, project.repository);

/** Refuses what no run could be started with. */
export async function requireTerms(context: CommandContext, root: string, terms: RunTerms): Promise<void> {
  const [first, ...more] = termFaults(await knownIn(context, root), terms);
  if (first !== undefined) invalid(`${[first.charAt(0).toUpperCase() + first.slice(1), ...more].join("; ").replace(/\.$/, "")}.`);
}

export function budgetOf(text: string | undefined): PortfolioBudget {
  const budget = parseBudget(text);
  return typeof budget === "string" ? invalid(budget) : budget;
}

export function priorityIn(priority: number | undefined): number {
  const value = priority ?? priorityDefault;
  return value >= 1 && value <= prioritiesMax ? value : invalid(`The priority is ${value}, expected 1 (highest) to ${prioritiesMax}.`);
}

export function requireTask(state: PortfolioView, id: string): TaskView {
  const task = state.tasks[id];
  return task ?? invalid(`There is no task ${id}.${didYouMean(id, Object.keys(state.tasks))}`, { task_id: id });
}

export function requireProject(state: PortfolioView, id: string): ProjectView {
  const project = state.projects[id] ?? Object.values(state.projects).find(({ name }) => name === id);
  return project ?? invalid(`There is no project ${id}.${didYouMean(id, Object.keys(state.projects))}`, { project_id: id });
}
