// flow: command-line spec of `flow`, which without a subcommand lists the flows.

import type { Command } from "../../spec.ts";

export const flow: Command = {
  name: "flow",
  summary: "Flows: list them, show one, lint, see which fits here.",
  usage: "[list | show NAME | lint [NAME] | detect]",
  details: [
    "Alone it means `autopilot flow list`. A flow is data: phases, steps, gates, limits; docs/FLOWS.md explains the language.",
  ],
  arguments: [],
  flags: [],
  takesRun: false,
  run: async (context) => (await import("../../../../commands/flows.ts")).listFlows(context, {}),
};
