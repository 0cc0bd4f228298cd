// budgets: what a task, its project, the portfolio and the day may still use.
//
// Invariants:
//   B1. What tasks at work may still use up is reserved, so that two of them cannot spend the same money.
//   B2. A task that names no budget of its own needs only that something is left.

import type { PortfolioBudget, PortfolioUsage } from "../../contracts/portfolio-journal.ts";
import type { PortfolioView, TaskView } from "./state.ts";

const dimensions = ["tokens", "usd"] as const;
type Dimension = (typeof dimensions)[number];

export type Ended = { readonly scope: "portfolio" | "day" | "project"; readonly project_id: string | null; readonly because: string };

export type HeldByBudget = { readonly scope: Ended["scope"] | "task"; readonly because: string; readonly tasks: readonly TaskView[] };

type Purse = {
  readonly scope: Ended["scope"];
  readonly key: string;
  readonly name: string;
  readonly budget: PortfolioBudget;
  readonly spent: PortfolioUsage;
  readonly holds: (task: TaskView) => boolean;
};

function pursesOf(state: PortfolioView, project_id: string, now: string): readonly Purse[] {
  const day = now.slice(0, 10);
  const project = state.projects[project_id];
  const all = (): boolean => true;
  return [
    { scope: "portfolio", key: "portfolio", name: "the portfolio", budget: state.budget, spent: state.spent, holds: all },
    {
      scope: "day",
      key: `day:${day}`,
      name: `the day ${day}`,
      budget: state.day_budget,
      spent: state.days[day] ?? { tokens: 0, usd: 0 },
      holds: all,
    },
    {
      scope: "project",
      key: `project:${project_id}`,
      name: project_id,
      budget: project?.budget ?? {},
      spent: project?.spent ?? { tokens: 0, usd: 0 },
      holds: (task) => task.project_id === project_id,
    },
  ];
}

/** Why there is no budget for this task beside those at work; null if there is. */
export function whyNoBudget(state: PortfolioView, task: TaskView, now: string, working: readonly TaskView[]): string | null {
  for (const dimension of dimensions) {
    const own = task.budget[dimension];
    if (own !== undefined && task.spent[dimension] >= own) return `its budget of ${own} ${dimension} is used up`;
    for (const purse of pursesOf(state, task.project_id, now)) {
      const left = leftIn(purse, dimension, working);
      if (left <= 0 || left < needOf(task, dimension))
        return `${purse.name} has ${Math.max(0, left)} of ${purse.budget[dimension] ?? 0} ${dimension} left`;
    }
  }
  return null;
}

/** By the budget that leaves nothing for them, or not enough: tasks that are ready, though nothing else works. */
export function heldByBudget(state: PortfolioView, now: string): readonly HeldByBudget[] {
  const held = new Map<string, HeldByBudget & { tasks: TaskView[] }>();
  for (const task of Object.values(state.tasks)) {
    if (task.status !== "ready" || !isBounded(state, task)) continue;
    const because = whyNoBudget(state, task, now, []);
    if (because === null) continue;
    const purse = pursesOf(state, task.project_id, now).find(({ name }) => because.startsWith(`${name} has`));
    const scope = purse?.scope ?? "task";
    const key = purse?.key ?? task.task_id;
    const one = held.get(key) ?? { scope, because, tasks: [] };
    one.tasks.push(task);
    held.set(key, one);
  }
  return [...held.values()];
}

const isBounded = ({ budget, day_budget, projects }: PortfolioView, task: TaskView): boolean =>
  [budget, day_budget, task.budget, projects[task.project_id]?.budget ?? {}].some(
    ({ tokens, usd }) => tokens !== undefined || usd !== undefined,
  );

/** What a run for this task may use: the least of all limits. Empty if there is none. */
export function allowanceOf(state: PortfolioView, task: TaskView, now: string, working: readonly TaskView[]): PortfolioBudget {
  const allowed: PortfolioBudget = {};
  for (const dimension of dimensions) {
    const own = task.budget[dimension];
    const lefts = pursesOf(state, task.project_id, now).map((purse) => leftIn(purse, dimension, working));
    const least = Math.min(own === undefined ? Number.POSITIVE_INFINITY : own - task.spent[dimension], ...lefts);
    if (Number.isFinite(least)) allowed[dimension] = least;
  }
  return allowed;
}

const needOf = (task: TaskView, dimension: Dimension): number => Math.max(0, (task.budget[dimension] ?? 0) - task.spent[dimension]);

function leftIn({ budget, spent, holds }: Purse, dimension: Dimension, working: readonly TaskView[]): number {
  const limit = budget[dimension];
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  const reserved = working.filter(holds).reduce((sum, task) => sum + needOf(task, dimension), 0); // B1
  return limit - spent[dimension] - reserved;
}

/** Used-up budgets that have not been reported yet. */
export function endedBudgets(state: PortfolioView, now: string): readonly Ended[] {
  const projects = Object.keys(state.projects);
  const purses = new Map([...projects, ""].flatMap((id) => pursesOf(state, id, now)).map((purse) => [purse.key, purse]));
  return [...purses.values()].flatMap(({ scope, key, name, budget, spent }): Ended[] => {
    const over = dimensions.find((dimension) => budget[dimension] !== undefined && spent[dimension] >= (budget[dimension] ?? 0));
    if (over === undefined || state.exhausted.includes(key)) return [];
    const because = `${name} has used ${spent[over]} of ${budget[over] ?? 0} ${over}`;
    return [{ scope, project_id: scope === "project" ? key.slice("project:".length) : null, because }];
  });
}
