// parse-budget: parses a budget such as `tokens=250k`.

import { type Budget, dimensions } from "../../contracts/budget.ts";
import { budgetProfiles } from "../../contracts/budget-profiles.ts";
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
    const [name = "", amountText = "", ...rest] = part.split("=");
    const amount = readQuantity(amountText);

    if (!dimensions.some((dimension) => dimension === name)) {
      return {
        fault: `"${name}" is no limit: expected ${dimensions.join(", ")}.${didYouMean(name, dimensions)}`,
      };
    }

    if (amount === null || rest.length > 0) {
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
