// held-by-budget: finds the tasks that wait because a budget is used up, and the commands that
// raise it. They are derived from the state: a task is no longer listed once the budget is raised,
// the day ends or other runs give back what they have not used.

import type { PortfolioBudget } from "../../contracts/portfolio-journal.ts";
import { quantityText } from "../../kit/quantity.ts";
import { formatRaise } from "../../views/resume-commands.ts";
import { listBudgetScopes } from "./budget-scopes.ts";
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

  for (const task of Object.values(state.tasks).toSorted(
    (a, b) => Number(a.short === null) - Number(b.short === null),
  )) {
    if (task.status !== "ready" || !hasAnyLimit(state, task)) continue;
    const decision = budgets.decideAllowance(task, { inProject: () => 1, inAll: () => 1 });
    const shortfalls = "because" in decision ? decision.shortfalls : [];
    const [firstShortfall] = shortfalls;
    if (firstShortfall === undefined) continue;

    const group = groups.get(firstShortfall.key) ?? {
      firstShortfall,
      firstTaskShortfalls: shortfalls,
      shortfalls: [],
      tasks: [],
    };
    group.shortfalls.push(...shortfalls);
    group.tasks.push(task);
    groups.set(firstShortfall.key, group);
  }

  return [...groups.values()].flatMap(
    ({ firstShortfall, firstTaskShortfalls, shortfalls, tasks }) => {
      const [task] = tasks;
      if (task === undefined) return [];
      const keys = [...new Set(firstTaskShortfalls.map(({ key }) => key))];
      const shortfallsOf = (key: string) => shortfalls.filter((shortfall) => shortfall.key === key);
      const commands = keys.flatMap((key) =>
        createRaiseCommand({ state, now }, task, shortfallsOf(key)),
      );

      return [{ scope: firstShortfall.scope, because: firstShortfall.because, tasks, commands }];
    },
  );
}

const hasAnyLimit = ({ budget, day_budget, projects }: PortfolioView, task: TaskView): boolean =>
  task.short !== null ||
  [budget, day_budget, task.budget, projects[task.project_id]?.budget ?? {}].some(
    ({ tokens, usd }) => tokens !== undefined || usd !== undefined,
  );

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

  const budget =
    listBudgetScopes(state, task.project_id, now).find(({ key }) => key === firstShortfall.key)
      ?.budget ?? {};

  switch (firstShortfall.scope) {
    case "run":
      return [
        `autopilot budget raise ${formatRaise(listLimitsOnlyPersonRaises(task))} --run ${task.task_id}`,
      ];
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
  return (["tokens", "usd"] as const)
    .flatMap((dimension) => {
      const inDimension = shortfalls.filter((shortfall) => shortfall.dimension === dimension);
      const [firstShortfall] = inDimension;
      if (firstShortfall === undefined) {
        return budget[dimension] === undefined
          ? []
          : [`${dimension}=${quantityText(budget[dimension])}`];
      }

      const count = Math.ceil(
        inDimension.reduce((sum, { need }) => sum + need, firstShortfall.taken) /
          roundingSteps[dimension],
      );

      // A cent more: a share of dollars is rounded down, and would fall just short.
      return [
        `${dimension}=${dimension === "tokens" ? quantityText(count * roundingSteps.tokens) : ((count + 1) * roundingSteps.usd).toFixed(2)}`,
      ];
    })
    .join(",");
}
