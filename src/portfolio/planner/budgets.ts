// budgets: what a task, its project, the portfolio and the day may still use.
//
// Invariants:
//   B1. What runs that can go on may still use is reserved from their start to their end, so that no two spend the same money: together
//       they may never use more than is left.
//   B2. A task that names no budget of its own gets an equal share of what is left, with those that could start beside it.
//   B3. It waits rather than start with crumbs: less than half of its share if those at work gave back all that they have not used, or
//       less than ended runs have used on average. A run's limit counts between turns, so one that begins with too little overshoots.

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

export type Grant = { readonly allowance: PortfolioBudget } | { readonly because: string };

export type Budgets = {
  /** What a run for this task may use, or why it waits. Nothing is reserved yet. */
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
  const reserve: Budgets["reserve"] = (task, allowance) => {
    for (const { key } of pursesOf(state, task.project_id, now)) {
      const { tokens, usd, holders: count } = reserved.get(key) ?? { tokens: 0, usd: 0, holders: 0 };
      reserved.set(key, { tokens: tokens + (allowance.tokens ?? 0), usd: usd + (allowance.usd ?? 0), holders: count + 1 });
    }
  };
  for (const task of holders) reserve(task, unused(task));
  const left = ({ key, budget, spent }: Purse, dimension: Dimension): number =>
    (budget[dimension] ?? Number.POSITIVE_INFINITY) - spent[dimension] - (reserved.get(key)?.[dimension] ?? 0);
  const averages = new Map<Dimension, number>();
  const averageUse = (dimension: Dimension): number => {
    const average = averages.get(dimension) ?? averageRunUse(state, dimension);
    averages.set(dimension, average);
    return average;
  };
  const why = (purse: Purse, dimension: Dimension): string => {
    const { holders: count = 0 } = reserved.get(purse.key) ?? {};
    const more = count === 0 ? "" : ` beside what ${count} open ${count === 1 ? "run" : "runs"} may use`;
    const rest = whole(Math.max(0, left(purse, dimension)), dimension);
    const usual =
      rest > 0 && rest < averageUse(dimension) ? `, and a run has used ${whole(averageUse(dimension), dimension)} on average` : "";
    return `${purse.name} has ${rest} of ${purse.budget[dimension] ?? 0} ${dimension} left${more}${usual}`;
  };
  const grant: Budgets["grant"] = (task, sharers) => {
    const allowance: PortfolioBudget = {};
    for (const dimension of dimensions) {
      const taskBudget = task.budget[dimension];
      const need = taskBudget === undefined ? null : taskBudget - task.spent[dimension];
      if (need !== null && need <= 0) return { because: `its budget of ${taskBudget ?? 0} ${dimension} is used up` };
      let least = need ?? Number.POSITIVE_INFINITY;
      for (const purse of pursesOf(state, task.project_id, now)) {
        const unspent = (purse.budget[dimension] ?? Number.POSITIVE_INFINITY) - purse.spent[dimension];
        if (unspent <= 0) return { because: why(purse, dimension) };
        if (task.allowance !== null || !Number.isFinite(unspent)) continue;
        const among = purse.scope === "project" ? sharers.inProject() : sharers.inAll();
        const { holders: count = 0 } = reserved.get(purse.key) ?? {};
        const rest = left(purse, dimension);
        const usual = averageUse(dimension);
        const share = whole(need ?? Math.max(rest / among, Math.min(rest, usual)), dimension); // B2
        const isHalf = count === 0 || share >= unspent / (count + among) / 2;
        const isEnough = need === null ? share > 0 && isHalf && share >= whole(usual, dimension) : need <= rest; // B3
        if (!isEnough) return { because: why(purse, dimension) };
        least = Math.min(least, share);
      }
      if (Number.isFinite(least)) allowance[dimension] = whole(least, dimension);
    }
    return { allowance: task.allowance === null ? allowance : unused(task) }; // its run goes on with what it was given
  };
  return { grant, reserve };
}

/** A run's limit is a whole number of tokens, and of hundredths of a cent. */
const whole = (amount: number, dimension: Dimension): number =>
  dimension === "tokens" ? Math.floor(amount) : Math.floor(amount * 1e4) / 1e4;

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

/** By the budget that leaves nothing for them, or not enough: tasks that are ready, though nothing else works. */
export function heldByBudget(state: PortfolioView, now: string): readonly HeldByBudget[] {
  const heldByPurse = new Map<string, HeldByBudget & { tasks: TaskView[] }>();
  const budgets = openBudgets(state, now, []);
  for (const task of Object.values(state.tasks)) {
    if (task.status !== "ready" || !isBounded(state, task)) continue;
    const grant = budgets.grant(task, { inProject: () => 1, inAll: () => 1 });
    if (!("because" in grant)) continue;
    const { because } = grant;
    const purse = pursesOf(state, task.project_id, now).find(({ name }) => because.startsWith(`${name} has`));
    const scope = purse?.scope ?? "task";
    const key = purse?.key ?? task.task_id;
    const one = heldByPurse.get(key) ?? { scope, because, tasks: [] };
    one.tasks.push(task);
    heldByPurse.set(key, one);
  }
  return [...heldByPurse.values()];
}

const isBounded = ({ budget, day_budget, projects }: PortfolioView, task: TaskView): boolean =>
  [budget, day_budget, task.budget, projects[task.project_id]?.budget ?? {}].some(
    ({ tokens, usd }) => tokens !== undefined || usd !== undefined,
  );

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
