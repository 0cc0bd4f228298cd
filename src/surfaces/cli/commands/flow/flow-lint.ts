// flow-lint: command-line spec of `flow lint`, which looks for mistakes in flows and explores their
// paths.

import { omitUndefined } from "../../../../kit/omit-undefined.ts";
import type { Command } from "../../spec.ts";

export const flowLint: Command = {
  name: "flow lint",
  summary: "Check a flow, and explore all its paths.",
  usage: "[NAME]",
  details: [
    "No path may complete past a failed proof or end nowhere, and every loop needs a count. Without NAME: all flows.",
  ],
  arguments: [{ name: "NAME", about: "the flow's name", isOptional: true, names: "flows" }],
  flags: [],
  takesRun: false,
  run: async (context, input) =>
    (await import("../../../../commands/flows.ts")).lintFlows(
      context,
      omitUndefined({ name: input.words[0] }),
    ),
};
