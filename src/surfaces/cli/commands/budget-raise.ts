// budget-raise: command-line spec of `budget raise`, which raises a run's limits.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";

export const budgetRaise: Command = {
  name: "budget raise",
  summary: "Raise a limit of a paused run.",
  usage: "LIMIT… [--reason TEXT]",
  details: [
    "`tokens=+100k` adds, `tokens=300k` sets; `phase.tokens=+100k` is what one phase may use. Recorded under your name; then `autopilot resume`.",
  ],
  arguments: [
    {
      name: "LIMIT",
      about:
        "tokens=, minutes=, calls=, usd= or retries=, with an amount; phase.tokens= and the like for one phase",
      isRepeatable: true,
    },
  ],
  flags: [{ name: "reason", kind: "text", placeholder: "TEXT", about: "Why, for the journal." }],
  takesRun: true,
  ofTask: "changes",
  run: async (context, input) =>
    (await import("../../../commands/budget.ts")).raiseLimits(context, {
      limits: [...input.words],
      ...omitUndefined({ run: input.run, reason: input.text("reason") }),
    }),
};
