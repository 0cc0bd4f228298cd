// flow-list: command-line spec of `flow list`, which lists built-in and user flows.

import type { Command } from "../../spec.ts";

export const flowList: Command = {
  name: "flow list",
  summary: "Every flow there is here: the built-in ones and your own.",
  usage: "",
  details: ["Your own lie in .autopilot/flows/<name>/flow.yaml."],
  arguments: [],
  flags: [],
  takesRun: false,
  run: async (context) => (await import("../../../../commands/flows.ts")).listFlows(context, {}),
};
