// portfolio-input: reads and checks what a person names in a portfolio command: repositories,
// tasks, projects, budgets, priorities.

import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import type { CommandResponse } from "../../contracts/command-response.ts";
import {
  type PortfolioBudget,
  priorityDefault,
  prioritiesMax,
} from "../../contracts/portfolio/portfolio-journal.ts";
import { didYouMean } from "../../kit/suggest.ts";
import { parseBudget } from "../../portfolio/planner/task-notation.ts";
import { createTaskId } from "../../portfolio/planner/ids.ts";
import type { PortfolioView, ProjectView, TaskView } from "../../portfolio/planner/state.ts";
import { findClone } from "../../portfolio/store/clones.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import type { PortfolioPaths } from "../../portfolio/store/folder.ts";
import { toActor, type CommandContext } from "../../project/command-context.ts";
import { refuse, respond } from "../../project/respond.ts";
import { git } from "../../workspace/git/git.ts";
import { findRepository } from "../../workspace/git/repository.ts";
import { findTermFaults, readKnownTerms, type RunTerms } from "./run-terms.ts";

export const refuseInput = (message: string, data: Readonly<Record<string, unknown>> = {}): never =>
  refuse("portfolio_input_invalid", { message, data });

export const refuseUsage = (message: string): Promise<CommandResponse> =>
  Promise.resolve(respond("usage", { message }));

/** The fields of a change that the person who gave the command makes. */
export const operatorFields = (context: CommandContext) =>
  ({ actor: toActor(context), reason_code: "ok" }) as const;
/** A task's id from its objective, with a random end. */
export const createRandomTaskId = (objective: string): string =>
  createTaskId(objective, randomBytes(6));

/** The repositories of all projects; null for a project without one. */
export const listRepositories = async (
  paths: PortfolioPaths,
): Promise<readonly (string | null)[]> =>
  Object.values((await readPortfolio(paths)).projects).map(({ repository }) => repository);

/**
 * The repository of a folder, and the branch that finished work is merged into: `wantedTarget`,
 * else main, else the one checked out. `others`: the repositories of other projects.
 */
export async function requireProjectRepository(
  folder: string,
  wantedTarget: string | undefined,
  others: readonly (string | null)[],
): Promise<{ readonly root: string; readonly target: string }> {
  if (!existsSync(folder)) refuseInput(`There is no folder ${folder}.`);
  const lookup = await findRepository(folder);
  if ("failure" in lookup) return refuse(lookup.failure.reason, { message: lookup.failure.detail });
  const { root, branch, commonDir } = lookup.repository;

  for (const other of new Set(others)) {
    if (other === null || other === root || !existsSync(other)) continue;
    const otherLookup = await findRepository(other);
    if ("repository" in otherLookup && otherLookup.repository.commonDir === commonDir) {
      refuseInput(
        `${root} is a worktree of the repository that another project works in: name ${otherLookup.repository.root}, so that both share its files and its merge queue.`,
      );
    }
  }

  const hasBranch = async (name: string): Promise<boolean> =>
    (
      await git({
        cwd: root,
        args: ["rev-parse", "-q", "--verify", `refs/heads/${name}^{commit}`],
        acceptedExitCodes: [0, 1, 128],
      })
    ).code === 0;
  const target = wantedTarget ?? ((await hasBranch("main")) ? "main" : (branch ?? "main"));
  if (!(await hasBranch(target))) {
    refuseInput(
      `${root} has no branch ${target}; name the one that finished work is merged into with --target.`,
    );
  }

  return { root, target };
}

/**
 * The folder whose flows and settings count for a project's tasks: its repository on this machine.
 */
export const findSettingsRoot = (paths: PortfolioPaths, project: ProjectView | undefined): string =>
  project === undefined || project.repository === null
    ? paths.root
    : findClone(paths, project.repository);

/** Refuses a flow, isolation, scope or agent with which no run could start. */
export async function requireTerms(
  context: CommandContext,
  root: string,
  terms: RunTerms,
): Promise<void> {
  const faults = findTermFaults(await readKnownTerms(context, root), terms).join("; ");
  if (faults !== "") {
    refuseInput(`${faults.charAt(0).toUpperCase()}${faults.slice(1).replace(/\.$/, "")}.`);
  }
}

export function requireBudget(text: string | undefined): PortfolioBudget {
  const budget = parseBudget(text);
  return typeof budget === "string" ? refuseInput(budget) : budget;
}

export function requirePriority(priority: number | undefined): number {
  const value = priority ?? priorityDefault;
  return value >= 1 && value <= prioritiesMax
    ? value
    : refuseInput(`The priority is ${value}, expected 1 (highest) to ${prioritiesMax}.`);
}

export function requireTask(state: PortfolioView, id: string): TaskView {
  const task = state.tasks[id];
  return (
    task ??
    refuseInput(`There is no task ${id}.${didYouMean(id, Object.keys(state.tasks))}`, {
      task_id: id,
    })
  );
}

export function requirePortfolioProject(state: PortfolioView, id: string): ProjectView {
  const project =
    state.projects[id] ?? Object.values(state.projects).find(({ name }) => name === id);
  return (
    project ??
    refuseInput(`There is no project ${id}.${didYouMean(id, Object.keys(state.projects))}`, {
      project_id: id,
    })
  );
}
