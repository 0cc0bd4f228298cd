// held-by-budget: tasks that a used-up budget holds up, and the command that raises it. Derived from the state, so it is over when the
// budget is raised, the day ends or others give back what they have not used.

import type { PortfolioBudget } from "../../contracts/portfolio-journal.ts";
import { quantityText } from "../../kit/quantity.ts";
import { raiseText } from "../../views/ways-on.ts";
import { type Lack, limitsOfRun, openBudgets, pursesOf } from "./budgets.ts";
import type { PortfolioView, TaskView } from "./state.ts";

export type HeldByBudget = {
  readonly scope: Lack["scope"];
  readonly because: string;
  /** Those whose run rests come first. */
  readonly tasks: readonly TaskView[];
  /** Raise it, and whatever else they lack, so far that they get on. */
  readonly commands: readonly string[];
};

type Found = { readonly first: Lack; readonly own: readonly Lack[]; readonly lacks: Lack[]; readonly tasks: TaskView[] };

/** By the budget that leaves nothing for them, or not enough: tasks that are ready, though nothing else works. */
export function heldByBudget(state: PortfolioView, now: string): readonly HeldByBudget[] {
  const found = new Map<string, Found>();
  const budgets = openBudgets(state, now, []);
  for (const task of Object.values(state.tasks).toSorted((a, b) => Number(a.short === null) - Number(b.short === null))) {
    if (task.status !== "ready" || !isBounded(state, task)) continue;
    const grant = budgets.grant(task, { inProject: () => 1, inAll: () => 1 });
    const [first] = "because" in grant ? grant.lacks : [];
    if (!("because" in grant) || first === undefined) continue;
    const one = found.get(first.key) ?? { first, own: grant.lacks, lacks: [], tasks: [] };
    one.lacks.push(...grant.lacks);
    one.tasks.push(task);
    found.set(first.key, one);
  }
  return [...found.values()].flatMap(({ first, own, lacks, tasks }) => {
    const [task] = tasks;
    if (task === undefined) return [];
    const commands = [...new Set(own.map(({ key }) => key))].flatMap((key) =>
      commandFor(
        state,
        now,
        task,
        lacks.filter((lack) => lack.key === key),
      ),
    );
    return [{ scope: first.scope, because: first.because, tasks, commands }];
  });
}

const isBounded = ({ budget, day_budget, projects }: PortfolioView, task: TaskView): boolean =>
  task.short !== null ||
  [budget, day_budget, task.budget, projects[task.project_id]?.budget ?? {}].some(
    ({ tokens, usd }) => tokens !== undefined || usd !== undefined,
  );

function commandFor(state: PortfolioView, now: string, task: TaskView, lacks: readonly Lack[]): readonly string[] {
  const [first] = lacks;
  if (first === undefined) return [];
  const { scope, key } = first;
  if (scope === "run") return [`autopilot budget raise ${raiseText(limitsOfRun(task))} --run ${task.task_id}`];
  const budget = scope === "task" ? task.budget : (pursesOf(state, task.project_id, now).find((one) => one.key === key)?.budget ?? {});
  const id = scope === "task" ? task.task_id : scope === "project" ? task.project_id : "portfolio";
  return [`autopilot portfolio edit ${id} ${scope === "day" ? "--day-budget" : "--budget"} ${budgetText(budget, lacks)}`];
}

const steps = { tokens: 1_000, usd: 0.01 } as const;

/** The whole budget as `--budget` takes it, for a budget is given as one: raised where it lacks, as it is elsewhere. */
function budgetText(budget: PortfolioBudget, lacks: readonly Lack[]): string {
  return (["tokens", "usd"] as const)
    .flatMap((dimension) => {
      const short = lacks.filter((lack) => lack.dimension === dimension);
      const [first] = short;
      if (first === undefined) return budget[dimension] === undefined ? [] : [`${dimension}=${quantityText(budget[dimension])}`];
      const count = Math.ceil(short.reduce((sum, { need }) => sum + need, first.taken) / steps[dimension]);
      return [`${dimension}=${dimension === "tokens" ? quantityText(count * steps.tokens) : ((count + 1) * steps.usd).toFixed(2)}`];
    })
    .join(",");
}
