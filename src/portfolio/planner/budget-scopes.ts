// budget-scopes: lists the budgets that limit a task: the portfolio's, today's and its project's.

import type {
  PortfolioBudget,
  PortfolioUsage,
} from "../../contracts/portfolio/portfolio-journal.ts";
import { formatPartOfAmount } from "../../views/wording.ts";
import { noUsage, type PortfolioView } from "./state.ts";

export const dimensions = ["tokens", "usd"] as const;
export type Dimension = (typeof dimensions)[number];

export type BudgetScope = {
  readonly scope: UsedUpBudget["scope"];
  readonly key: string;
  readonly name: string;
  readonly budget: PortfolioBudget;
  readonly spent: PortfolioUsage;
};

export type UsedUpBudget = {
  readonly scope: "portfolio" | "day" | "project";
  readonly project_id: string | null;
  readonly because: string;
};

/** The day that a time is charged to, in UTC: `2026-03-01`. */
export const toBudgetDay = (ts: string): string => ts.slice(0, 10);

/** The budgets that limit a project's tasks at this time. */
export const listBudgetScopes = (
  state: PortfolioView,
  project_id: string,
  now: string,
): readonly BudgetScope[] => [...listSharedScopes(state, now), projectScope(state, project_id)];

/** The budgets that limit the tasks of every project. */
function listSharedScopes(state: PortfolioView, now: string): readonly BudgetScope[] {
  const day = toBudgetDay(now);

  return [
    {
      scope: "portfolio",
      key: "portfolio",
      name: "the portfolio",
      budget: state.budget,
      spent: state.spent,
    },
    {
      scope: "day",
      key: `day:${day}`,
      name: `the day ${day}`,
      budget: state.day_budget,
      spent: state.days[day] ?? noUsage(),
    },
  ];
}

function projectScope(state: PortfolioView, project_id: string): BudgetScope {
  const project = state.projects[project_id];

  return {
    scope: "project",
    key: `project:${project_id}`,
    name: project_id,
    budget: project?.budget ?? {},
    spent: project?.spent ?? noUsage(),
  };
}

/** Used-up budgets that have not been reported yet. */
export function findNewlyUsedUpBudgets(state: PortfolioView, now: string): readonly UsedUpBudget[] {
  const projectIds = Object.keys(state.projects);
  const projectScopes = projectIds.map((project_id) => projectScope(state, project_id));
  const scopes = [...listSharedScopes(state, now), ...projectScopes];

  const unreported = scopes.filter(({ key }) => !state.exhausted.includes(key));
  return unreported.flatMap((scope) => describeUsedUp(scope) ?? []);
}

function describeUsedUp(budgetScope: BudgetScope): UsedUpBudget | null {
  const { scope, key, name, budget, spent } = budgetScope;
  const usedUp = dimensions.find((dimension) => isUsedUp(budgetScope, dimension));
  if (usedUp === undefined) return null;

  const used = formatPartOfAmount(usedUp, spent[usedUp], budget[usedUp] ?? 0);
  const project_id = scope === "project" ? key.slice("project:".length) : null;
  return { scope, project_id, because: `${name} has used ${used}` };
}

function isUsedUp({ budget, spent }: BudgetScope, dimension: Dimension): boolean {
  const limit = budget[dimension];
  return limit !== undefined && spent[dimension] >= limit;
}
