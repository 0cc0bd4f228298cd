// flow-lint: command-line spec of `flow lint`, which looks for mistakes in flows and explores their paths.

import { defined } from "../../defined.ts";
import type { Command } from "../../spec.ts";

export const flowLint: Command = {
  name: "flow lint",
  summary: "Look for mistakes in a flow, and walk all its paths.",
  usage: "[NAME]",
  details: [
    "No path may reach completed past a proof that failed, none may be a dead end, and every ring has a count. Without NAME: all of them.",
  ],
  arguments: [{ name: "NAME", about: "the flow's name", optional: true, names: "flows" }],
  flags: [],
  takesRun: false,
  run: async (context, input) => (await import("../../../../commands/flows.ts")).lint(context, defined({ name: input.words[0] })),
};
