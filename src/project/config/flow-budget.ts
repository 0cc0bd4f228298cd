// flow-budget: derives a flow's default budget, and compares two budgets. A budget as people write
// it is parsed by parse-budget.ts.

import { type Budget, dimensions } from "../../contracts/budget.ts";
import { budgetProfiles } from "../../contracts/budget-profiles.ts";
import type { Flow } from "../../contracts/flow.ts";

/** The caps of a flow that sets none: what a whole day's run may use. */
const dayTokensMax = 5_000_000;
const dayMinutesMax = 1_440;
/** For an agent's step without an estimate. */
const stepTokensDefault = 15_000;
/** A tasks step runs its steps for an assumed number of tasks. */
const tasksExpected = 8;
/** Room for rework and retries: a budget isn't an estimate. */
const reworkFactor = 3;
/** Budgets are shown to people, so they are round. */
const roundedToTokens = 10_000;

/**
 * The usage of a flow's agents if every step runs once, by the flow's estimates; null if some are
 * missing and the flow sets its own cap.
 */
export function estimateFlowTokens(flow: Flow): number | null {
  const phases = [
    ...(flow.before ?? []),
    ...("read" in flow.phases ? [] : flow.phases),
    ...(flow.after ?? []),
  ];
  const steps = [
    ...phases.flatMap((phase) => phase.steps),
    ...(flow.steps ?? []),
    ...(flow.closing ?? []),
  ];
  const taskSteps = steps.flatMap(({ tasks }) => [...(tasks?.each ?? []), ...(tasks?.wave ?? [])]);
  const allSteps = [
    ...steps.map((step) => ({ step, times: 1 })),
    ...taskSteps.map((step) => ({ step, times: tasksExpected })),
  ];
  const turns = allSteps.filter(({ step }) => step.agent !== undefined);
  const isCapped = flow.limits?.run?.tokens !== undefined;
  // A flow that caps itself needs no estimate: its author has set its limits.
  if (isCapped && (turns.length === 0 || turns.some(({ step }) => step.estimate === undefined))) {
    return null;
  }

  return turns.reduce(
    (sum, { step, times }) => sum + (step.estimate ?? stepTokensDefault) * times,
    0,
  );
}

/** A budget with room for rework around an estimate; never below balanced. */
const toBudgetTokens = (tokens: number): number =>
  Math.max(
    budgetProfiles.balanced.limits.tokens,
    Math.ceil((tokens * reworkFactor) / roundedToTokens) * roundedToTokens,
  );

/**
 * A flow's default budget. A single objective gets `balanced`. Everything else gets room around its
 * estimate, from its documents or its steps, capped by its own limits or those of a day. What a
 * continued run has used is added, because it counts as used here too.
 */
export function computeFlowBudget(
  flow: Flow,
  tokensByDocuments?: number,
  tokensUsedBefore = 0,
): Budget {
  const flowLimits = flow.limits?.run;
  if (flowLimits === undefined && flow.flow === "objective") return budgetProfiles.balanced;
  const estimate = tokensByDocuments ?? estimateFlowTokens(flow);
  const limits: Record<string, number> =
    flowLimits === undefined ? { tokens: dayTokensMax, minutes: dayMinutesMax } : {};

  for (const dimension of dimensions) {
    const limit = flowLimits?.[dimension];
    if (limit !== undefined) limits[dimension] = limit;
  }

  if (estimate !== null && limits["tokens"] !== undefined) {
    limits["tokens"] = Math.min(limits["tokens"], tokensUsedBefore + toBudgetTokens(estimate));
  }

  return { profile: null, soft_ratio: budgetProfiles.balanced.soft_ratio, limits };
}

/**
 * The dimensions in which the first budget allows more than the second. Unlimited allows the most.
 */
export function findLooserDimensions(budget: Budget, other: Budget): readonly string[] {
  return dimensions.filter(
    (dimension) =>
      (budget.limits[dimension] ?? Number.POSITIVE_INFINITY) >
      (other.limits[dimension] ?? Number.POSITIVE_INFINITY),
  );
}
