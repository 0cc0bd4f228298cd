// budgets: decides how much a task's run may use, from the budgets of the task, its project, the
// portfolio and the day.
//
// Invariants:
//   B1. What a run may still use stays reserved from its start to its end, so that no two runs are
//       given the same money: together they are never given more than is left.
//   B2. A task without a budget of its own shares what is left equally with the tasks that could
//       start beside it, but gets at least what ended runs have used on average, if that much is
//       left.
//   B3. A task waits rather than start with too little: less than half of the share it would get if
//       the running ones gave back all they have not used, or less than ended runs have used on
//       average. A limit is checked between turns, so a run with too little overshoots.
//   B4. A run that rests at its limit continues as soon as more is available: by a raised budget,
//       or by what others gave back. The portfolio raises only limits that it set; a person raises
//       a cap of the settings or the flow, in the run itself.

import type { PortfolioBudget } from "../../contracts/portfolio/portfolio-journal.ts";
import type { ShortLimit } from "../../core/state.ts";
import { smallestTurn } from "../../core/react-to-limit.ts";
import { formatAmount, formatPartOfAmount } from "../../views/wording.ts";
import { type BudgetScope, type Dimension, dimensions, listBudgetScopes } from "./budget-scopes.ts";
import { computeUnusedAllowance, listTasksWithAllowance, Reservations } from "./reservations.ts";
import { findRaisableLimit, listLimitsOnlyPersonRaises } from "./resting-limits.ts";
import type { PortfolioView, TaskView } from "./state.ts";

/** A budget without room for a task. */
export type Shortfall = {
  /** `run`: a limit of its run that no budget of the portfolio's set. */
  readonly scope: BudgetScope["scope"] | "task" | "run";
  readonly key: string;
  readonly dimension: ShortLimit["dimension"];
  readonly because: string;
  /** What is used of it or reserved by others, and what the task needs beside. */
  readonly usedOrReserved: number;
  readonly need: number;
};
export type AllowanceDecision =
  | { readonly allowance: PortfolioBudget }
  | { readonly because: string; readonly shortfalls: readonly Shortfall[] };

/**
 * How many tasks could start now, this one among them: in its project, and in all. They share what
 * is left (B2). Counted only when asked.
 */
export type Sharers = { readonly inProject: () => number; readonly inAll: () => number };

/** What a task asks for in one dimension. */
type Demand = {
  readonly task: TaskView;
  readonly dimension: Dimension;
  readonly sharers: Sharers;
  /** What its own budget leaves; null if it has none. */
  readonly ownLeft: number | null;
  /** The limit at which its run rests, if the portfolio may raise it (B4). */
  readonly raisable: ShortLimit | undefined;
  /** Its run goes on with what it was given. */
  readonly isResumed: boolean;
  /** What its run needs at least to get on. */
  readonly need: number;
};

/** The budgets at a time, with what is reserved for runs that can still go on (B1). */
export class Budgets {
  readonly #state: PortfolioView;
  readonly #now: string;
  readonly #reservations: Reservations;
  readonly #averages = new Map<Dimension, number>();

  constructor(
    state: PortfolioView,
    now: string,
    holders: readonly TaskView[] = listTasksWithAllowance(state),
  ) {
    this.#state = state;
    this.#now = now;
    this.#reservations = new Reservations(state, now, holders);
  }

  /** Reserves what the task's run may use from now on, in place of an earlier reservation (B1). */
  reserve(task: TaskView, allowance: PortfolioBudget): void {
    this.#reservations.reserve(task, allowance);
  }

  /** What a run for this task may use from now on, or why it waits. Nothing is reserved yet. */
  decideAllowance(task: TaskView, sharers: Sharers): AllowanceDecision {
    const allowance: PortfolioBudget = {};
    const shortfalls: Shortfall[] = [];

    for (const dimension of dimensions) {
      const decision = this.#decideDimension(this.#createDemand(task, dimension, sharers));
      if (typeof decision === "number") allowance[dimension] = decision;
      else if (decision !== undefined) shortfalls.push(...decision);
    }

    shortfalls.push(...listRunLimitShortfalls(task));
    const [first] = shortfalls;
    return first === undefined ? { allowance } : { because: first.because, shortfalls };
  }

  #createDemand(task: TaskView, dimension: Dimension, sharers: Sharers): Demand {
    const ownBudget = task.budget[dimension];
    const raisable = findRaisableLimit(task, dimension);

    return {
      task,
      dimension,
      sharers,
      ownLeft: ownBudget === undefined ? null : ownBudget - task.spent[dimension],
      raisable,
      isResumed: task.allowance !== null && raisable === undefined,
      need: this.#computeNeed(task, dimension),
    };
  }

  /**
   * What the task may use in one dimension, or every budget without room for it; undefined if no
   * budget limits the dimension.
   */
  #decideDimension(demand: Demand): number | undefined | readonly Shortfall[] {
    const { task, dimension, ownLeft, raisable, isResumed, need } = demand;
    const shortfalls = listOwnShortfalls(demand);
    let least = ownLeft ?? Number.POSITIVE_INFINITY;

    for (const scope of listBudgetScopes(this.#state, task.project_id, this.#now)) {
      const unspent = computeUnspent(scope, dimension);
      if (unspent <= 0) {
        shortfalls.push(this.#createShortfall(scope, demand));
      } else if (!isResumed && Number.isFinite(unspent)) {
        const { share, isEnough } = this.#computeShare(scope, unspent, demand);
        if (!isEnough) shortfalls.push(this.#createShortfall(scope, demand));
        least = Math.min(least, share);
      }
    }

    if (shortfalls.length > 0) return shortfalls;
    if (isResumed) return computeUnusedAllowance(task)[dimension];
    if (Number.isFinite(least)) return roundDown(least, dimension);
    if (raisable === undefined) return undefined;

    // No budget limits the dimension any more, and the run rests at a limit: it may use as much
    // again as it has used.
    return Math.max(need, task.run_spent[dimension]);
  }

  /**
   * A task's share of what one budget has left (B2), and whether that is enough to start with (B3).
   */
  #computeShare(
    scope: BudgetScope,
    unspent: number,
    { task, dimension, sharers, ownLeft, raisable, need }: Demand,
  ): { readonly share: number; readonly isEnough: boolean } {
    const others = this.#reservations.sumOthers(scope, task, dimension);
    const left = unspent - others.amount;
    if (ownLeft !== null) {
      return { share: roundDown(ownLeft, dimension), isEnough: ownLeft <= left };
    }

    const sharerCount = scope.scope === "project" ? sharers.inProject() : sharers.inAll();
    const isAtLimit = raisable !== undefined;
    const usualUse = isAtLimit ? need : this.#getAverageUse(dimension);
    const equalShare = left / sharerCount;
    const share = roundDown(Math.max(equalShare, Math.min(left, usualUse)), dimension); // B2

    const shareIfGivenBack = unspent / (others.count + sharerCount);
    const isHalf = others.count === 0 || isAtLimit || share >= shareIfGivenBack / 2;
    const isUsual = share >= roundDown(usualUse, dimension);
    return { share, isEnough: share > 0 && isHalf && isUsual }; // B3
  }

  #createShortfall(scope: BudgetScope, demand: Demand): Shortfall {
    const { task, dimension, need } = demand;
    const others = this.#reservations.sumOthers(scope, task, dimension);
    const usedOrReserved = scope.spent[dimension] + others.amount;
    const limit = scope.budget[dimension] ?? 0;
    const left = roundDown(Math.max(0, limit - scope.spent[dimension] - others.amount), dimension);

    const leftText = `${scope.name} has ${formatPartOfAmount(dimension, left, limit)} left`;
    const besideText = describeOpenRuns(others.count);
    const because = `${leftText}${besideText}${this.#whyTooLittle(demand, left)}`;

    return { scope: scope.scope, key: scope.key, dimension, because, usedOrReserved, need };
  }

  /** The end of a sentence on what is left; empty if that speaks for itself. */
  #whyTooLittle({ dimension, raisable, need }: Demand, left: number): string {
    if (left === 0) return "";
    if (raisable !== undefined) {
      return `, and its run needs about ${formatAmount(dimension, need)} more`;
    }

    const average = this.#getAverageUse(dimension);
    if (left >= average) return "";
    return `, and a run has used ${formatAmount(dimension, average)} on average`;
  }

  #computeNeed(task: TaskView, dimension: Dimension): number {
    const raisable = findRaisableLimit(task, dimension);
    if (raisable !== undefined) return raisable.to - task.run_spent[dimension];
    return Math.max(this.#getAverageUse(dimension), smallestTurn[dimension]);
  }

  #getAverageUse(dimension: Dimension): number {
    const average = this.#averages.get(dimension) ?? computeAverageRunUse(this.#state, dimension);
    this.#averages.set(dimension, average);
    return average;
  }
}

/** The task's own budget, if it is used up or leaves too little for another turn. */
function listOwnShortfalls({ task, dimension, ownLeft, raisable, need }: Demand): Shortfall[] {
  const budget = task.budget[dimension];
  if (budget === undefined || ownLeft === null) return [];

  const raisesNothing =
    raisable !== undefined && task.run_spent[dimension] + ownLeft <= raisable.limit; // B4
  if (ownLeft > 0 && !raisesNothing) return [];

  const budgetText = formatAmount(dimension, budget);
  const leftText =
    ownLeft <= 0
      ? "is used up"
      : `leaves ${formatAmount(dimension, ownLeft)}, too little for another turn`;

  return [
    {
      scope: "task",
      key: task.task_id,
      dimension,
      because: `its budget of ${budgetText} ${leftText}`,
      usedOrReserved: task.spent[dimension],
      need,
    },
  ];
}

/**
 * Limits at which a task's run rests and that no budget of the portfolio's set: a default, or a cap
 * of the settings or the flow.
 */
const listRunLimitShortfalls = (task: TaskView): readonly Shortfall[] =>
  listLimitsOnlyPersonRaises(task).map((limit): Shortfall => ({
    scope: "run",
    key: `run:${task.task_id}`,
    dimension: limit.dimension,
    because: describeRunLimit(limit),
    usedOrReserved: 0,
    need: limit.to,
  }));

function describeRunLimit({ scope, dimension, limit }: ShortLimit): string {
  const limitName = scope === "phase" ? "the limit of a phase" : "the limit";
  const amount = formatAmount(dimension, limit);
  return `${limitName} of its run, ${amount}, leaves no room for another turn`;
}

function describeOpenRuns(count: number): string {
  if (count === 0) return "";
  return ` beside what ${count} open ${count === 1 ? "run" : "runs"} may use`;
}

const computeUnspent = ({ budget, spent }: BudgetScope, dimension: Dimension): number =>
  (budget[dimension] ?? Number.POSITIVE_INFINITY) - spent[dimension];

/** A run's limit is a whole number of tokens, and of hundredths of a cent. */
const roundDown = (value: number, dimension: Dimension): number =>
  dimension === "tokens" ? Math.floor(value) : Math.floor(value * 1e4) / 1e4;

/** What a run that has ended used, on average; 0 if none has. */
function computeAverageRunUse({ tasks }: PortfolioView, dimension: Dimension): number {
  let sum = 0;
  let runs = 0;

  for (const { allowance, run_spent } of Object.values(tasks)) {
    if (allowance === null && run_spent[dimension] > 0) {
      sum += run_spent[dimension];
      runs += 1;
    }
  }

  return runs === 0 ? 0 : sum / runs;
}
