// flow-budget: parses a budget such as `tokens=250k`, derives a flow's default one, and compares
// two.

import { type Budget, dimensions } from "../../contracts/budget.ts";
import { budgetProfiles } from "../../contracts/budget-profiles.ts";
import type { Flow } from "../../contracts/flow.ts";
import { readQuantity } from "../../kit/quantity.ts";
import { didYouMean } from "../../kit/suggest.ts";

export type ParsedBudget = { readonly budget: Budget } | { readonly fault: string };

/**
 * A budget as people write it: a profile's name, or limits like `tokens=250k,minutes=45`; an
 * unnamed dimension keeps balanced's.
 */
export function parseBudget(text: string): ParsedBudget {
  const trimmed = text.trim();
  if (Object.hasOwn(budgetProfiles, trimmed)) {
    return { budget: budgetProfiles[trimmed as keyof typeof budgetProfiles] };
  }

  const expected = `${Object.keys(budgetProfiles).join(", ")}, or limits like tokens=250k,minutes=45,calls=200,usd=3`;
  if (!trimmed.includes("=")) {
    return {
      fault: `"${trimmed}" is no budget: expected ${expected}.${didYouMean(trimmed, Object.keys(budgetProfiles))}`,
    };
  }

  const limits: Record<string, number> = { ...budgetProfiles.balanced.limits };
  const namesSeen = new Set<string>();

  for (const part of trimmed.split(/[,;\s]+/).filter((word) => word !== "")) {
    const [name = "", amountText = "", ...more] = part.split("=");
    const amount = readQuantity(amountText);

    if (!dimensions.some((dimension) => dimension === name)) {
      return {
        fault: `"${name}" is nothing that is counted: expected ${dimensions.join(", ")}.${didYouMean(name, dimensions)}`,
      };
    }

    if (amount === null || more.length > 0) {
      return {
        fault: `"${part}" has no amount: expected a number like 45, 250k or 1.5M, above zero.`,
      };
    }

    if (amount <= 0) {
      return { fault: `"${part}" leaves nothing to work with: expected a limit above zero.` };
    }

    if ((name === "tokens" || name === "calls") && amount < 1) {
      return { fault: `"${part}" leaves nothing to work with: expected at least 1.` };
    }

    if (namesSeen.has(name)) return { fault: `${name} is limited twice: expected it once.` };
    namesSeen.add(name);
    limits[name] = amount;
  }

  return { budget: { profile: null, soft_ratio: budgetProfiles.balanced.soft_ratio, limits } };
}

/** The caps of a flow that sets none: what a whole day's run may use. */
const tokensMax = 5_000_000;
const minutesMax = 1_440;
/** For an agent's step without an estimate. */
const stepTokens = 15_000;
/** A tasks step runs its steps for an assumed number of tasks. */
const tasksExpected = 8;
/** Room for rework and retries: a budget isn't an estimate. */
const reserveFactor = 3;

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
  if (isCapped && (turns.length === 0 || turns.some(({ step }) => step.estimate === undefined))) {
    return null;
  } // its author has set its limits

  return turns.reduce((sum, { step, times }) => sum + (step.estimate ?? stepTokens) * times, 0);
}

/** A budget with room for rework around an estimate; never below balanced. */
const computeBudgetAround = (tokens: number): number =>
  Math.max(
    budgetProfiles.balanced.limits.tokens,
    Math.ceil((tokens * reserveFactor) / 10_000) * 10_000,
  );

/**
 * A flow's default budget. A single objective gets `balanced`. Everything else gets room around its
 * estimate, from its documents or its steps, capped by its own limits or those of a day. What a
 * continued run has used is added, because it counts as used here too.
 */
export function computeFlowBudget(flow: Flow, documentsEstimate?: number, usedBefore = 0): Budget {
  const flowLimits = flow.limits?.run;
  if (flowLimits === undefined && flow.flow === "objective") return budgetProfiles.balanced;
  const estimate = documentsEstimate ?? estimateFlowTokens(flow);
  const limits: Record<string, number> =
    flowLimits === undefined ? { tokens: tokensMax, minutes: minutesMax } : {};

  for (const dimension of dimensions) {
    const limit = flowLimits?.[dimension];
    if (limit !== undefined) limits[dimension] = limit;
  }

  if (estimate !== null && limits["tokens"] !== undefined) {
    limits["tokens"] = Math.min(limits["tokens"], usedBefore + computeBudgetAround(estimate));
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
