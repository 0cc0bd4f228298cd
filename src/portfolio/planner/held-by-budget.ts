// held-by-budget: finds the tasks that wait because a budget is used up, and the commands that
// raise it. They are derived from the state: a task is no longer listed once the budget is raised,
// the day ends or other runs give back what they have not used.

import type { PortfolioBudget } from "../../contracts/portfolio/portfolio-journal.ts";
import { quantityText } from "../../kit/quantity.ts";
import { formatRaise } from "../../views/resume-commands.ts";
import { type Dimension, dimensions, listBudgetScopes } from "./budget-scopes.ts";
import { Budgets, type Shortfall } from "./budgets.ts";
import { listLimitsOnlyPersonRaises } from "./resting-limits.ts";
import type { PortfolioView, TaskView } from "./state.ts";

export type HeldByBudget = {
  readonly scope: Shortfall["scope"];
  readonly because: string;
  /** Those whose run rests come first. */
  readonly tasks: readonly TaskView[];
  /** Raise it, and every other budget that the first task lacks, far enough for all of them. */
  readonly commands: readonly string[];
};

/**
 * Tasks whose first shortfall is in the same budget: what the first of them lacks, and what all of
 * them lack together.
 */
type BudgetGroup = {
  readonly firstShortfall: Shortfall;
  readonly firstTask: TaskView;
  readonly firstTaskShortfalls: readonly Shortfall[];
  readonly shortfalls: Shortfall[];
  readonly tasks: TaskView[];
};

/**
 * Ready tasks that could not start even if no other run were at work, grouped by the budget that
 * leaves too little for them.
 */
export function listHeldByBudget(state: PortfolioView, now: string): readonly HeldByBudget[] {
  const groups = new Map<string, BudgetGroup>();
  const budgets = new Budgets(state, now, []);

  for (const task of listLimitedTasks(state)) {
    const decision = budgets.decideAllowance(task, { inProject: () => 1, inAll: () => 1 });
    const shortfalls = "because" in decision ? decision.shortfalls : [];
    const [firstShortfall] = shortfalls;
    if (firstShortfall === undefined) continue;

    const group = groups.get(firstShortfall.key);
    if (group === undefined) {
      const tasks = [task];
      groups.set(firstShortfall.key, {
        firstShortfall,
        firstTask: task,
        firstTaskShortfalls: shortfalls,
        shortfalls: [...shortfalls],
        tasks,
      });
    } else {
      group.shortfalls.push(...shortfalls);
      group.tasks.push(task);
    }
  }

  return [...groups.values()].map((group) => describeGroup(state, now, group));
}

/** Ready tasks that a budget limits, those whose run rests first. */
function listLimitedTasks(state: PortfolioView): readonly TaskView[] {
  const tasks = Object.values(state.tasks).filter(
    (task) => task.status === "ready" && hasAnyLimit(state, task),
  );
  return tasks.toSorted((a, b) => Number(a.short === null) - Number(b.short === null));
}

function describeGroup(state: PortfolioView, now: string, group: BudgetGroup): HeldByBudget {
  const { firstShortfall, firstTask, firstTaskShortfalls, shortfalls, tasks } = group;
  const keys = new Set(firstTaskShortfalls.map(({ key }) => key));
  const commands = [...keys].flatMap((key) => {
    const inBudget = shortfalls.filter((shortfall) => shortfall.key === key);
    return createRaiseCommand({ state, now }, firstTask, inBudget);
  });

  const { scope, because } = firstShortfall;
  return { scope, because, tasks, commands };
}

function hasAnyLimit(state: PortfolioView, task: TaskView): boolean {
  if (task.short !== null) return true;

  const projectBudget = state.projects[task.project_id]?.budget ?? {};
  const budgets = [state.budget, state.day_budget, task.budget, projectBudget];
  return budgets.some(({ tokens, usd }) => tokens !== undefined || usd !== undefined);
}

/** The command that raises one budget far enough for these shortfalls in it. */
function createRaiseCommand(
  { state, now }: { readonly state: PortfolioView; readonly now: string },
  task: TaskView,
  shortfalls: readonly Shortfall[],
): readonly string[] {
  const [firstShortfall] = shortfalls;
  if (firstShortfall === undefined) return [];

  const edit = (id: string, flag: string, budget: PortfolioBudget): readonly string[] => [
    `autopilot portfolio edit ${id} ${flag} ${renderRaisedBudget(budget, shortfalls)}`,
  ];
  const scopes = listBudgetScopes(state, task.project_id, now);
  const budget = scopes.find(({ key }) => key === firstShortfall.key)?.budget ?? {};

  switch (firstShortfall.scope) {
    case "run": {
      const raise = formatRaise(listLimitsOnlyPersonRaises(task));
      return [`autopilot budget raise ${raise} --run ${task.task_id}`];
    }
    case "task":
      return edit(task.task_id, "--budget", task.budget);
    case "project":
      return edit(task.project_id, "--budget", budget);
    case "day":
      return edit("portfolio", "--day-budget", budget);
    case "portfolio":
      return edit("portfolio", "--budget", budget);
  }
}

/** Amounts in the commands are rounded up to a multiple of these. */
const roundingSteps = { tokens: 1_000, usd: 0.01 } as const;

/**
 * The whole budget as `--budget` takes it, because the flag replaces all of it: raised where it
 * falls short, unchanged elsewhere.
 */
function renderRaisedBudget(budget: PortfolioBudget, shortfalls: readonly Shortfall[]): string {
  const amounts: string[] = [];

  for (const dimension of dimensions) {
    const inDimension = shortfalls.filter((shortfall) => shortfall.dimension === dimension);
    const amount = inDimension.length === 0 ? budget[dimension] : sumNeeds(inDimension);
    if (amount === undefined) continue;

    const isRaised = inDimension.length > 0;
    const text = isRaised ? renderRoundedUp(dimension, amount) : quantityText(amount);
    amounts.push(`${dimension}=${text}`);
  }

  return amounts.join(",");
}

/** What is taken of the budget already, and what each task needs beside. */
function sumNeeds(shortfalls: readonly Shortfall[]): number {
  let sum = shortfalls[0]?.usedOrReserved ?? 0;
  for (const { need } of shortfalls) sum += need;
  return sum;
}

function renderRoundedUp(dimension: Dimension, amount: number): string {
  const count = Math.ceil(amount / roundingSteps[dimension]);
  if (dimension === "tokens") return quantityText(count * roundingSteps.tokens);

  // A cent more: a share of dollars is rounded down, and would fall just short.
  return ((count + 1) * roundingSteps.usd).toFixed(2);
}
