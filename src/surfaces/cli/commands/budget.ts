// budget: command-line spec of `budget`, which shows a run's limits and usage.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";

export const budget: Command = {
  name: "budget",
  summary: "Show or raise limits.",
  usage: "",
  details: ["`autopilot budget raise` raises a limit."],
  arguments: [],
  flags: [],
  takesRun: true,
  ofTask: "reads",
  run: async (context, input) =>
    (await import("../../../commands/budget.ts")).budget(
      context,
      omitUndefined({ run: input.run }),
    ),
};
