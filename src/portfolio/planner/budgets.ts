// budgets: what a task, its project, the portfolio and the day may still use.
//
// Invariants:
//   B1. What runs that can go on may still use is reserved from their start to their end, so that no two spend the same money: together
//       they may never use more than is left.
//   B2. A task that names no budget of its own gets an equal share of what is left, with those that could start beside it.
//   B3. It waits rather than start with crumbs: less than half of its share if those at work gave back all that they have not used, or
//       less than ended runs have used on average. A run's limit counts between turns, so one that begins with too little overshoots.
//   B4. A run that rests at its limit goes on as soon as there is more for it than that: by a raised budget, or by what others gave back.
//       Only limits that the portfolio set are raised by it; a cap of the settings or the flow is a person's to raise, in the run itself.

import type { PortfolioBudget, PortfolioUsage } from "../../contracts/portfolio-journal.ts";
import type { ShortLimit } from "../../core/state.ts";
import { turnFloor } from "../../core/limit-hit.ts";
import { amount, amountOf } from "../../views/wording.ts";
import type { PortfolioView, TaskView } from "./state.ts";

const dimensions = ["tokens", "usd"] as const;
type Dimension = (typeof dimensions)[number];

export type Ended = { readonly scope: "portfolio" | "day" | "project"; readonly project_id: string | null; readonly because: string };

export type Purse = {
  readonly scope: Ended["scope"];
  readonly key: string;
  readonly name: string;
  readonly budget: PortfolioBudget;
  readonly spent: PortfolioUsage;
  readonly holds: (task: TaskView) => boolean;
};

export function pursesOf(state: PortfolioView, project_id: string, now: string): readonly Purse[] {
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

/** A budget without room for a task. */
export type Lack = {
  /** `run`: a limit of its run that no budget of the portfolio's set. */
  readonly scope: Ended["scope"] | "task" | "run";
  readonly key: string;
  readonly dimension: ShortLimit["dimension"];
  readonly because: string;
  /** What is used of it or promised to others, and what the task needs beside. */
  readonly taken: number;
  readonly need: number;
};
export type Grant = { readonly allowance: PortfolioBudget } | { readonly because: string; readonly lacks: readonly Lack[] };

export type Budgets = {
  /** What a run for this task may use from now on, or why it waits. Nothing is reserved yet. */
  readonly grant: (task: TaskView, sharers: Sharers) => Grant;
  /** B1 */
  readonly reserve: (task: TaskView, allowance: PortfolioBudget) => void;
};
/** How many could start now, this one among them: in its project, and in all. */
export type Sharers = { readonly inProject: () => number; readonly inAll: () => number };

type Reserved = PortfolioUsage & { holders: number };

/** The budgets at a time, with what runs that can still go on may use of them. */
export function openBudgets(state: PortfolioView, now: string, holders: readonly TaskView[] = holdersIn(state)): Budgets {
  const reserved = new Map<string, Reserved>();
  const reserving = new Set<string>();
  const reserve: Budgets["reserve"] = (task, allowance) => {
    const isHolder = reserving.has(task.task_id);
    const before = isHolder ? unused(task) : {};
    const change = (dimension: Dimension): number => (allowance[dimension] ?? 0) - (before[dimension] ?? 0);
    for (const { key } of pursesOf(state, task.project_id, now)) {
      const { tokens, usd, holders: count } = reserved.get(key) ?? { tokens: 0, usd: 0, holders: 0 };
      reserved.set(key, { tokens: tokens + change("tokens"), usd: usd + change("usd"), holders: count + (isHolder ? 0 : 1) });
    }
  };
  for (const task of holders) {
    reserve(task, unused(task));
    reserving.add(task.task_id);
  }
  const averages = new Map<Dimension, number>();
  const averageUse = (dimension: Dimension): number => {
    const average = averages.get(dimension) ?? averageRunUse(state, dimension);
    averages.set(dimension, average);
    return average;
  };
  /** What others than this task have reserved of a budget, and how many they are. */
  const promised = ({ key }: Purse, task: TaskView, dimension: Dimension) => {
    const isHolder = reserving.has(task.task_id);
    const all = reserved.get(key) ?? { tokens: 0, usd: 0, holders: 0 };
    return {
      amount: Math.max(0, all[dimension] - (isHolder ? (unused(task)[dimension] ?? 0) : 0)),
      count: all.holders - (isHolder ? 1 : 0),
    };
  };
  const lackOf = (purse: Purse, task: TaskView, dimension: Dimension): Lack => {
    const { amount: others, count } = promised(purse, task, dimension);
    const limit = purse.budget[dimension] ?? 0;
    const more = count === 0 ? "" : ` beside what ${count} open ${count === 1 ? "run" : "runs"} may use`;
    const rest = whole(Math.max(0, limit - purse.spent[dimension] - others), dimension);
    const short = raisable(task, dimension);
    const average = averageUse(dimension);
    const usual =
      rest === 0
        ? ""
        : short !== undefined
          ? `, and its run needs about ${amount(dimension, short.to - task.run_spent[dimension])} more`
          : rest < average
            ? `, and a run has used ${amount(dimension, average)} on average`
            : "";
    const because = `${purse.name} has ${amountOf(dimension, rest, limit)} left${more}${usual}`;
    return {
      scope: purse.scope,
      key: purse.key,
      dimension,
      because,
      taken: purse.spent[dimension] + others,
      need: needed(task, dimension),
    };
  };
  const needed = (task: TaskView, dimension: Dimension): number => {
    const short = raisable(task, dimension);
    return short === undefined ? Math.max(averageUse(dimension), turnFloor[dimension]) : short.to - task.run_spent[dimension];
  };
  /** What it may use in one dimension, or every budget that lacks it; undefined if no budget limits that. */
  const grantIn = (task: TaskView, dimension: Dimension, sharers: Sharers): number | undefined | readonly Lack[] => {
    const lacks: Lack[] = [];
    const own = task.budget[dimension];
    const left = own === undefined ? null : own - task.spent[dimension];
    const short = raisable(task, dimension);
    const isNoMore = left !== null && short !== undefined && task.run_spent[dimension] + left <= short.limit; // B4
    if (own !== undefined && left !== null && (left <= 0 || isNoMore)) {
      const rest = left <= 0 ? "is used up" : `leaves ${amount(dimension, left)}, too little for another turn`;
      const because = `its budget of ${amount(dimension, own)} ${rest}`;
      lacks.push({ scope: "task", key: task.task_id, dimension, because, taken: task.spent[dimension], need: needed(task, dimension) });
    }
    const goesOn = task.allowance !== null && short === undefined;
    let least = left ?? Number.POSITIVE_INFINITY;
    for (const purse of pursesOf(state, task.project_id, now)) {
      const unspent = (purse.budget[dimension] ?? Number.POSITIVE_INFINITY) - purse.spent[dimension];
      if (unspent <= 0) lacks.push(lackOf(purse, task, dimension));
      if (unspent <= 0 || goesOn || !Number.isFinite(unspent)) continue;
      const among = purse.scope === "project" ? sharers.inProject() : sharers.inAll();
      const { amount: others, count } = promised(purse, task, dimension);
      const rest = unspent - others;
      const usual = short === undefined ? averageUse(dimension) : needed(task, dimension);
      const share = whole(left ?? Math.max(rest / among, Math.min(rest, usual)), dimension); // B2
      const isHalf = count === 0 || short !== undefined || share >= unspent / (count + among) / 2;
      const isEnough = left === null ? share > 0 && isHalf && share >= whole(usual, dimension) : left <= rest; // B3
      if (!isEnough) lacks.push(lackOf(purse, task, dimension));
      least = Math.min(least, share);
    }
    if (lacks.length > 0) return lacks;
    if (goesOn) return unused(task)[dimension]; // its run goes on with what it was given
    if (Number.isFinite(least)) return whole(least, dimension);
    return short === undefined ? undefined : Math.max(needed(task, dimension), task.run_spent[dimension]); // as much again
  };
  const grant: Budgets["grant"] = (task, sharers) => {
    const allowance: PortfolioBudget = {};
    const lacks: Lack[] = [];
    for (const dimension of dimensions) {
      const granted = grantIn(task, dimension, sharers);
      if (typeof granted === "number") allowance[dimension] = granted;
      else if (granted !== undefined) lacks.push(...granted);
    }
    lacks.push(...lacksOfRun(task));
    const [first] = lacks;
    return first === undefined ? { allowance } : { because: first.because, lacks };
  };
  return { grant, reserve };
}

/** B4: the limit at which a task's run rests, if a budget of the portfolio's set it or its task was given one since. */
function raisable({ short, allowance, budget }: TaskView, dimension: Dimension): ShortLimit | undefined {
  const limit = short?.find((one) => one.scope === "run" && one.dimension === dimension);
  const given = allowance?.[dimension];
  const isOurs = limit !== undefined && (given === undefined ? budget[dimension] !== undefined : limit.limit >= given);
  return isOurs ? limit : undefined;
}

/** Limits at which a task's run rests and that no budget of the portfolio's set: a default, or a cap of the settings or the flow. */
const lacksOfRun = (task: TaskView): readonly Lack[] =>
  limitsOfRun(task).map(({ scope, dimension, limit, to }): Lack => ({
    scope: "run",
    key: `run:${task.task_id}`,
    dimension,
    because: `${scope === "phase" ? "the limit of a phase" : "the limit"} of its run, ${amount(dimension, limit)}, leaves no room for another turn`,
    taken: 0,
    need: to,
  }));

export const limitsOfRun = (task: TaskView): readonly ShortLimit[] =>
  (task.short ?? []).filter(({ scope, dimension }) => {
    const own = scope === "run" ? dimensions.find((one) => one === dimension) : undefined;
    return own === undefined || raisable(task, own) === undefined;
  });

/** A run's limit is a whole number of tokens, and of hundredths of a cent. */
const whole = (value: number, dimension: Dimension): number => (dimension === "tokens" ? Math.floor(value) : Math.floor(value * 1e4) / 1e4);

/** What a run that has ended used, on average; 0 if none has. */
function averageRunUse({ tasks }: PortfolioView, dimension: Dimension): number {
  let [sum, runs] = [0, 0];
  for (const { allowance, run_spent } of Object.values(tasks))
    if (allowance === null && run_spent[dimension] > 0) {
      sum += run_spent[dimension];
      runs += 1;
    }
  return runs === 0 ? 0 : sum / runs;
}

/** Tasks with a run that can go on: what it was given stays reserved, for it is not asked again. */
const holdersIn = (state: PortfolioView): readonly TaskView[] => Object.values(state.tasks).filter(({ allowance }) => allowance !== null);

/** What a task's run may still use. */
function unused({ allowance, run_spent }: TaskView): PortfolioBudget {
  const { tokens, usd } = allowance ?? {};
  return {
    ...(tokens === undefined ? {} : { tokens: Math.max(0, tokens - run_spent.tokens) }),
    ...(usd === undefined ? {} : { usd: Math.max(0, usd - run_spent.usd) }),
  };
}

/** Used-up budgets that have not been reported yet. */
export function endedBudgets(state: PortfolioView, now: string): readonly Ended[] {
  const projects = Object.keys(state.projects);
  const purses = new Map([...projects, ""].flatMap((id) => pursesOf(state, id, now)).map((purse) => [purse.key, purse]));
  return [...purses.values()].flatMap(({ scope, key, name, budget, spent }): Ended[] => {
    const over = dimensions.find((dimension) => budget[dimension] !== undefined && spent[dimension] >= (budget[dimension] ?? 0));
    if (over === undefined || state.exhausted.includes(key)) return [];
    const because = `${name} has used ${amountOf(over, spent[over], budget[over] ?? 0)}`;
    return [{ scope, project_id: scope === "project" ? key.slice("project:".length) : null, because }];
  });
}
