// flow-detect: command-line spec of `flow detect`, which finds a project's staged flow and step.

import type { Command } from "../../spec.ts";

export const flowDetect: Command = {
  name: "flow detect",
  summary: "Which staged flow this project is in, and at which step.",
  usage: "",
  details: [
    "Asks the open run first, then _docs/_autopilot_state.md if it agrees with the folders, then the folders. Changes nothing.",
  ],
  arguments: [],
  flags: [],
  takesRun: false,
  run: async (context) =>
    (await import("../../../../commands/staged/flow-detect.ts")).detectFlow(context, {}),
};
