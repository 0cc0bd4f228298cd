import { type Budget, dimensions, profiles } from "../contracts/budget.ts";
import type { Flow } from "../contracts/flow.ts";
import { readQuantity } from "../kit/quantity.ts";
import { didYouMean } from "../kit/suggest.ts";

export type BudgetRead = { readonly budget: Budget } | { readonly fault: string };

/** A budget as people give it: a profile's name, or limits like `tokens=250k,minutes=45`; an unnamed dimension keeps balanced's. */
export function readBudget(text: string): BudgetRead {
  const words = text.trim();
  if (Object.hasOwn(profiles, words)) return { budget: profiles[words as keyof typeof profiles] };
  const expected = `${Object.keys(profiles).join(", ")}, or limits like tokens=250k,minutes=45,calls=200,usd=3`;
  if (!words.includes("=")) return { fault: `"${words}" is no budget: expected ${expected}.${didYouMean(words, Object.keys(profiles))}` };
  const limits: Record<string, number> = { ...profiles.balanced.limits };
  const named = new Set<string>();
  for (const part of words.split(/[,;\s]+/).filter((one) => one !== "")) {
    const [name = "", amountText = "", ...more] = part.split("=");
    const amount = readQuantity(amountText);
    if (!dimensions.some((dimension) => dimension === name))
      return { fault: `"${name}" is nothing that is counted: expected ${dimensions.join(", ")}.${didYouMean(name, dimensions)}` };
    if (amount === null || more.length > 0)
      return { fault: `"${part}" has no amount: expected a number like 45, 250k or 1.5M, above zero.` };
    if (amount <= 0) return { fault: `"${part}" leaves nothing to work with: expected a limit above zero.` };
    if ((name === "tokens" || name === "calls") && amount < 1)
      return { fault: `"${part}" leaves nothing to work with: expected at least 1.` };
    if (named.has(name)) return { fault: `${name} is limited twice: expected it once.` };
    named.add(name);
    limits[name] = amount;
  }
  return { budget: { profile: null, soft_ratio: profiles.balanced.soft_ratio, limits } };
}

/** What a flow's run may use where nobody says: the flow's own limits; one objective is balanced; everything larger has room for a day. */
export function flowBudget(flow: Flow): Budget {
  const own = flow.limits?.run;
  if (own === undefined && flow.flow === "objective") return profiles.balanced;
  const limits: Record<string, number> = own === undefined ? { tokens: 5_000_000, minutes: 1_440 } : {};
  for (const dimension of dimensions) {
    const limit = own?.[dimension];
    if (limit !== undefined) limits[dimension] = limit;
  }
  return { profile: null, soft_ratio: profiles.balanced.soft_ratio, limits };
}

/** The dimensions in which the first budget allows more than the second. No limit at all allows the most. */
export function looserIn(budget: Budget, than: Budget): readonly string[] {
  return dimensions.filter(
    (dimension) => (budget.limits[dimension] ?? Number.POSITIVE_INFINITY) > (than.limits[dimension] ?? Number.POSITIVE_INFINITY),
  );
}
