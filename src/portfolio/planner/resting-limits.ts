// resting-limits: tells the limits at which a task's run rests apart: those that the portfolio may
// raise, and those that only a person raises.
// Invariants B1 and on: portfolio/planner/budgets.ts.

import type { ShortLimit } from "../../core/state.ts";
import { type Dimension, dimensions } from "./budget-scopes.ts";
import type { TaskView } from "./state.ts";

/**
 * The limit at which a task's run rests, if the portfolio may raise it (B4): it set the limit, or
 * the task has got a budget since.
 */
export function findRaisableLimit(
  { short, allowance, budget }: TaskView,
  dimension: Dimension,
): ShortLimit | undefined {
  const limit = short?.find(
    (candidate) => candidate.scope === "run" && candidate.dimension === dimension,
  );
  if (limit === undefined) return undefined;

  const granted = allowance?.[dimension];
  const isPortfolioLimit =
    granted === undefined ? budget[dimension] !== undefined : limit.limit >= granted;
  return isPortfolioLimit ? limit : undefined;
}

/** The limits at which a task's run rests and that the portfolio may not raise (B4). */
export const listLimitsOnlyPersonRaises = (task: TaskView): readonly ShortLimit[] =>
  (task.short ?? []).filter((limit) => !isRaisable(task, limit));

function isRaisable(task: TaskView, limit: ShortLimit): boolean {
  const dimension = dimensions.find((name) => name === limit.dimension);
  if (limit.scope !== "run" || dimension === undefined) return false;
  return findRaisableLimit(task, dimension) !== undefined;
}
