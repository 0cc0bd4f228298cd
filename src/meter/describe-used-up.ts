// describe-used-up: says what is used up, if nothing is left of what the turn may use, less what
// every turn of this meter used and has not paid.

import type { OpenAccount } from "./account.ts";

/**
 * Null while something is left; else the message about what is used up. The comparisons are written
 * such that NaN leaves nothing.
 */
export function describeUsedUp(
  account: OpenAccount,
  accounts: Iterable<OpenAccount>,
  when: "before a call" | "during a call",
): string | null {
  const left = account.request.left();
  let tokens = 0;
  let usd = 0;
  let calls = 0;

  for (const other of accounts) {
    if (!other.request.isUnpaid()) continue;
    const used = other.usage();
    tokens += used.tokens;
    usd += used.usd;
    calls += used.calls;
  }

  if (!(left.tokens > tokens)) {
    return buildMessage(
      `${formatAmount(tokens)} tokens used, ${formatAmount(left.tokens)} were left`,
      "tokens",
    );
  }

  if (!(left.usd > usd)) {
    return buildMessage(`$${usd.toFixed(4)} used, $${left.usd.toFixed(4)} were left`, "usd");
  }

  // A call that is under way has been counted: it may be the last one.
  if (when === "before a call" && !(left.calls > calls)) {
    return buildMessage(
      `${formatAmount(calls)} model calls made, ${formatAmount(left.calls)} were left`,
      "calls",
    );
  }

  return null;
}

const formatAmount = (value: number): string => Math.round(Math.max(0, value)).toLocaleString("en");

function buildMessage(amounts: string, dimension: string): string {
  return `The budget is used up (${amounts}), so the model is not asked any further; "autopilot budget raise ${dimension}=+…" gives more.`;
}
