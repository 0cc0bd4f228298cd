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

import type { PortfolioBudget, PortfolioUsage } from "../../contracts/portfolio-journal.ts";
import type { ShortLimit } from "../../core/state.ts";
import { smallestTurn } from "../../core/budget-limit-hit.ts";
import { formatAmount, formatPartOfAmount } from "../../views/wording.ts";
import { noUsage, type PortfolioView, type TaskView } from "./state.ts";

const dimensions = ["tokens", "usd"] as const;
type Dimension = (typeof dimensions)[number];

export type UsedUpBudget = {
  readonly scope: "portfolio" | "day" | "project";
  readonly project_id: string | null;
  readonly because: string;
};

/** A budget that limits a task: the portfolio's, today's, or its project's. */
export type BudgetScope = {
  readonly scope: UsedUpBudget["scope"];
  readonly key: string;
  readonly name: string;
  readonly budget: PortfolioBudget;
  readonly spent: PortfolioUsage;
};

/** The budgets that limit a project's tasks at this time. */
export function listBudgetScopes(
  state: PortfolioView,
  project_id: string,
  now: string,
): readonly BudgetScope[] {
  const day = now.slice(0, 10);
  const project = state.projects[project_id];
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
    {
      scope: "project",
      key: `project:${project_id}`,
      name: project_id,
      budget: project?.budget ?? {},
      spent: project?.spent ?? noUsage(),
    },
  ];
}

/** A budget without room for a task. */
export type Shortfall = {
  /** `run`: a limit of its run that no budget of the portfolio's set. */
  readonly scope: UsedUpBudget["scope"] | "task" | "run";
  readonly key: string;
  readonly dimension: ShortLimit["dimension"];
  readonly because: string;
  /** What is used of it or reserved by others, and what the task needs beside. */
  readonly taken: number;
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

type Reservation = PortfolioUsage & { holders: number };

/** The budgets at a time, with what is reserved for runs that can still go on (B1). */
export class Budgets {
  readonly #state: PortfolioView;
  readonly #now: string;
  readonly #reservations = new Map<string, Reservation>();
  /**
   * Tasks whose run has an allowance already: what is reserved for them is not counted against
   * them.
   */
  readonly #holders = new Set<string>();
  readonly #averages = new Map<Dimension, number>();

  constructor(
    state: PortfolioView,
    now: string,
    holders: readonly TaskView[] = listTasksWithAllowance(state),
  ) {
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
    const change = (dimension: Dimension): number =>
      (allowance[dimension] ?? 0) - (before[dimension] ?? 0);

    for (const { key } of listBudgetScopes(this.#state, task.project_id, this.#now)) {
      const { tokens, usd, holders } = this.#reservations.get(key) ?? noReservation;
      this.#reservations.set(key, {
        tokens: tokens + change("tokens"),
        usd: usd + change("usd"),
        holders: holders + (isHolder ? 0 : 1),
      });
    }
  }

  /** What a run for this task may use from now on, or why it waits. Nothing is reserved yet. */
  decideAllowance(task: TaskView, sharers: Sharers): AllowanceDecision {
    const allowance: PortfolioBudget = {};
    const shortfalls: Shortfall[] = [];

    for (const dimension of dimensions) {
      const decision = this.#decideDimension(task, dimension, sharers);
      if (typeof decision === "number") allowance[dimension] = decision;
      else if (decision !== undefined) shortfalls.push(...decision);
    }

    shortfalls.push(...listRunLimitShortfalls(task));
    const [first] = shortfalls;
    return first === undefined ? { allowance } : { because: first.because, shortfalls };
  }

  /**
   * What the task may use in one dimension, or every budget without room for it; undefined if no
   * budget limits the dimension.
   */
  #decideDimension(
    task: TaskView,
    dimension: Dimension,
    sharers: Sharers,
  ): number | undefined | readonly Shortfall[] {
    const raisable = findRaisableLimit(task, dimension);
    const isResumed = task.allowance !== null && raisable === undefined; // its run goes on with what it was given
    const ownBudget = task.budget[dimension];
    const ownLeft = ownBudget === undefined ? null : ownBudget - task.spent[dimension];
    const shortfalls = this.#findOwnShortfalls(task, dimension);
    let least = ownLeft ?? Number.POSITIVE_INFINITY;

    for (const scope of listBudgetScopes(this.#state, task.project_id, this.#now)) {
      const unspent =
        (scope.budget[dimension] ?? Number.POSITIVE_INFINITY) - scope.spent[dimension];
      if (unspent <= 0) shortfalls.push(this.#createShortfall(scope, task, dimension));
      if (unspent <= 0 || isResumed || !Number.isFinite(unspent)) continue;

      const { share, isEnough } = this.#computeShare(scope, task, {
        dimension,
        unspent,
        ownLeft,
        sharers,
      });
      if (!isEnough) shortfalls.push(this.#createShortfall(scope, task, dimension));
      least = Math.min(least, share);
    }

    if (shortfalls.length > 0) return shortfalls;
    if (isResumed) return computeUnusedAllowance(task)[dimension];
    if (Number.isFinite(least)) return roundDown(least, dimension);

    // No budget limits the dimension any more, and the run rests at a limit: it may use as much
    // again as it has used.
    return raisable === undefined
      ? undefined
      : Math.max(this.#computeNeed(task, dimension), task.run_spent[dimension]);
  }

  /**
   * A task's share of what one budget has left (B2), and whether that is enough to start with (B3).
   */
  #computeShare(
    scope: BudgetScope,
    task: TaskView,
    facts: {
      readonly dimension: Dimension;
      readonly unspent: number;
      readonly ownLeft: number | null;
      readonly sharers: Sharers;
    },
  ): { readonly share: number; readonly isEnough: boolean } {
    const { dimension, unspent, ownLeft, sharers } = facts;
    const sharerCount = scope.scope === "project" ? sharers.inProject() : sharers.inAll();
    const others = this.#sumReservedByOthers(scope, task, dimension);
    const left = unspent - others.amount;
    const isAtLimit = findRaisableLimit(task, dimension) !== undefined;
    const usualUse = isAtLimit
      ? this.#computeNeed(task, dimension)
      : this.#getAverageUse(dimension);
    const share = roundDown(
      ownLeft ?? Math.max(left / sharerCount, Math.min(left, usualUse)),
      dimension,
    ); // B2

    if (ownLeft !== null) return { share, isEnough: ownLeft <= left };
    const isHalf =
      others.count === 0 || isAtLimit || share >= unspent / (others.count + sharerCount) / 2;
    return { share, isEnough: share > 0 && isHalf && share >= roundDown(usualUse, dimension) }; // B3
  }

  /** The task's own budget, if it is used up or leaves too little for another turn. */
  #findOwnShortfalls(task: TaskView, dimension: Dimension): Shortfall[] {
    const budget = task.budget[dimension];
    if (budget === undefined) return [];
    const left = budget - task.spent[dimension];
    const raisable = findRaisableLimit(task, dimension);
    const raisesNothing =
      raisable !== undefined && task.run_spent[dimension] + left <= raisable.limit; // B4
    if (left > 0 && !raisesNothing) return [];
    const leftText =
      left <= 0
        ? "is used up"
        : `leaves ${formatAmount(dimension, left)}, too little for another turn`;

    const because = `its budget of ${formatAmount(dimension, budget)} ${leftText}`;
    return [
      {
        scope: "task",
        key: task.task_id,
        dimension,
        because,
        taken: task.spent[dimension],
        need: this.#computeNeed(task, dimension),
      },
    ];
  }

  #createShortfall(scope: BudgetScope, task: TaskView, dimension: Dimension): Shortfall {
    const others = this.#sumReservedByOthers(scope, task, dimension);
    const limit = scope.budget[dimension] ?? 0;
    const left = roundDown(Math.max(0, limit - scope.spent[dimension] - others.amount), dimension);
    const beside =
      others.count === 0
        ? ""
        : ` beside what ${others.count} open ${others.count === 1 ? "run" : "runs"} may use`;

    const because = `${scope.name} has ${formatPartOfAmount(dimension, left, limit)} left${beside}${this.#whyTooLittle(task, dimension, left)}`;
    const taken = scope.spent[dimension] + others.amount;
    return {
      scope: scope.scope,
      key: scope.key,
      dimension,
      because,
      taken,
      need: this.#computeNeed(task, dimension),
    };
  }

  /** The end of a sentence on what is left; empty if that speaks for itself. */
  #whyTooLittle(task: TaskView, dimension: Dimension, left: number): string {
    if (left === 0) return "";
    const raisable = findRaisableLimit(task, dimension);
    if (raisable !== undefined) {
      return `, and its run needs about ${formatAmount(dimension, raisable.to - task.run_spent[dimension])} more`;
    }

    const average = this.#getAverageUse(dimension);
    return left < average
      ? `, and a run has used ${formatAmount(dimension, average)} on average`
      : "";
  }

  /** What the task's run needs at least to get on. */
  #computeNeed(task: TaskView, dimension: Dimension): number {
    const raisable = findRaisableLimit(task, dimension);
    if (raisable !== undefined) return raisable.to - task.run_spent[dimension];
    return Math.max(this.#getAverageUse(dimension), smallestTurn[dimension]);
  }

  #sumReservedByOthers(
    { key }: BudgetScope,
    task: TaskView,
    dimension: Dimension,
  ): { readonly amount: number; readonly count: number } {
    const isHolder = this.#holders.has(task.task_id);
    const reservation = this.#reservations.get(key) ?? noReservation;
    return {
      amount: Math.max(
        0,
        reservation[dimension] - (isHolder ? (computeUnusedAllowance(task)[dimension] ?? 0) : 0),
      ),
      count: reservation.holders - (isHolder ? 1 : 0),
    };
  }

  #getAverageUse(dimension: Dimension): number {
    const average = this.#averages.get(dimension) ?? computeAverageRunUse(this.#state, dimension);
    this.#averages.set(dimension, average);
    return average;
  }
}

const noReservation: Reservation = { tokens: 0, usd: 0, holders: 0 };

/**
 * The limit at which a task's run rests, if the portfolio may raise it (B4): it set the limit, or
 * the task has got a budget since.
 */
function findRaisableLimit(
  { short, allowance, budget }: TaskView,
  dimension: Dimension,
): ShortLimit | undefined {
  const limit = short?.find(
    (candidate) => candidate.scope === "run" && candidate.dimension === dimension,
  );

  const granted = allowance?.[dimension];
  const isPortfolioLimit =
    limit !== undefined &&
    (granted === undefined ? budget[dimension] !== undefined : limit.limit >= granted);
  return isPortfolioLimit ? limit : undefined;
}

/**
 * Limits at which a task's run rests and that no budget of the portfolio's set: a default, or a cap
 * of the settings or the flow.
 */
const listRunLimitShortfalls = (task: TaskView): readonly Shortfall[] =>
  listLimitsOnlyPersonRaises(task).map(({ scope, dimension, limit, to }): Shortfall => ({
    scope: "run",
    key: `run:${task.task_id}`,
    dimension,
    because: `${scope === "phase" ? "the limit of a phase" : "the limit"} of its run, ${formatAmount(dimension, limit)}, leaves no room for another turn`,
    taken: 0,
    need: to,
  }));

/** The limits at which a task's run rests and that the portfolio may not raise (B4). */
export const listLimitsOnlyPersonRaises = (task: TaskView): readonly ShortLimit[] =>
  (task.short ?? []).filter(({ scope, dimension }) => {
    const budgeted = scope === "run" ? dimensions.find((name) => name === dimension) : undefined;
    return budgeted === undefined || findRaisableLimit(task, budgeted) === undefined;
  });

/** A run's limit is a whole number of tokens, and of hundredths of a cent. */
const roundDown = (value: number, dimension: Dimension): number =>
  dimension === "tokens" ? Math.floor(value) : Math.floor(value * 1e4) / 1e4;

/** What a run that has ended used, on average; 0 if none has. */
function computeAverageRunUse({ tasks }: PortfolioView, dimension: Dimension): number {
  let [sum, runs] = [0, 0];
  for (const { allowance, run_spent } of Object.values(tasks)) {
    if (allowance === null && run_spent[dimension] > 0) {
      sum += run_spent[dimension];
      runs += 1;
    }
  }

  return runs === 0 ? 0 : sum / runs;
}

/**
 * Tasks with a run that can go on: what it was given stays reserved, because the budget is not
 * asked again when it resumes.
 */
const listTasksWithAllowance = (state: PortfolioView): readonly TaskView[] =>
  Object.values(state.tasks).filter(({ allowance }) => allowance !== null);

/** What a task's run may still use. */
function computeUnusedAllowance({ allowance, run_spent }: TaskView): PortfolioBudget {
  const { tokens, usd } = allowance ?? {};
  return {
    ...(tokens === undefined ? {} : { tokens: Math.max(0, tokens - run_spent.tokens) }),
    ...(usd === undefined ? {} : { usd: Math.max(0, usd - run_spent.usd) }),
  };
}

/** Used-up budgets that have not been reported yet. */
export function findNewlyUsedUpBudgets(state: PortfolioView, now: string): readonly UsedUpBudget[] {
  const projects = Object.keys(state.projects);
  const scopes = new Map(
    [...projects, ""]
      .flatMap((id) => listBudgetScopes(state, id, now))
      .map((scope) => [scope.key, scope]),
  );
  return [...scopes.values()].flatMap(({ scope, key, name, budget, spent }): UsedUpBudget[] => {
    const usedUp = dimensions.find(
      (dimension) =>
        budget[dimension] !== undefined && spent[dimension] >= (budget[dimension] ?? 0),
    );
    if (usedUp === undefined || state.exhausted.includes(key)) return [];
    const because = `${name} has used ${formatPartOfAmount(usedUp, spent[usedUp], budget[usedUp] ?? 0)}`;

    return [
      { scope, project_id: scope === "project" ? key.slice("project:".length) : null, because },
    ];
  });
}
