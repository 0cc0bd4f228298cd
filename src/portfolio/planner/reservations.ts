// reservations: keeps count of what runs that can still go on may use of each budget.
// Invariants B1 and on: portfolio/planner/budgets.ts.

import type {
  PortfolioBudget,
  PortfolioUsage,
} from "../../contracts/portfolio/portfolio-journal.ts";
import { type BudgetScope, type Dimension, listBudgetScopes } from "./budget-scopes.ts";
import type { PortfolioView, TaskView } from "./state.ts";

type Reservation = PortfolioUsage & { readonly holders: number };

const noReservation: Reservation = { tokens: 0, usd: 0, holders: 0 };

export class Reservations {
  readonly #state: PortfolioView;
  readonly #now: string;
  /** By the budget's key. */
  readonly #reservations = new Map<string, Reservation>();
  /**
   * Tasks whose run has an allowance already: what is reserved for them is not counted against
   * them.
   */
  readonly #holders = new Set<string>();

  constructor(state: PortfolioView, now: string, holders: readonly TaskView[]) {
    this.#state = state;
    this.#now = now;

    for (const task of holders) {
      this.reserve(task, computeUnusedAllowance(task));
      this.#holders.add(task.task_id);
    }
  }

  /** Reserves what the task's run may use from now on, in place of an earlier reservation (B1). */
  reserve(task: TaskView, allowance: PortfolioBudget): void {
    const isHolder = this.#holders.has(task.task_id);
    const before = isHolder ? computeUnusedAllowance(task) : {};
    const moreTokens = (allowance.tokens ?? 0) - (before.tokens ?? 0);
    const moreUsd = (allowance.usd ?? 0) - (before.usd ?? 0);

    for (const { key } of listBudgetScopes(this.#state, task.project_id, this.#now)) {
      const { tokens, usd, holders } = this.#reservations.get(key) ?? noReservation;
      this.#reservations.set(key, {
        tokens: tokens + moreTokens,
        usd: usd + moreUsd,
        holders: isHolder ? holders : holders + 1,
      });
    }
  }

  /** What is reserved of a budget for other tasks than this one, and for how many. */
  sumOthers(
    { key }: BudgetScope,
    task: TaskView,
    dimension: Dimension,
  ): { readonly amount: number; readonly count: number } {
    const reservation = this.#reservations.get(key) ?? noReservation;
    if (!this.#holders.has(task.task_id)) {
      return { amount: Math.max(0, reservation[dimension]), count: reservation.holders };
    }

    const ownAllowance = computeUnusedAllowance(task)[dimension] ?? 0;
    return {
      amount: Math.max(0, reservation[dimension] - ownAllowance),
      count: reservation.holders - 1,
    };
  }
}

/**
 * Tasks with a run that can go on: what it was given stays reserved, because the budget is not
 * asked again when it resumes.
 */
export const listTasksWithAllowance = (state: PortfolioView): readonly TaskView[] =>
  Object.values(state.tasks).filter(({ allowance }) => allowance !== null);

/** What a task's run may still use. */
export function computeUnusedAllowance({ allowance, run_spent }: TaskView): PortfolioBudget {
  const { tokens, usd } = allowance ?? {};

  return {
    ...(tokens === undefined ? {} : { tokens: Math.max(0, tokens - run_spent.tokens) }),
    ...(usd === undefined ? {} : { usd: Math.max(0, usd - run_spent.usd) }),
  };
}
