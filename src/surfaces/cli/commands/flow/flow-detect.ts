// flow-detect: command-line spec of `flow detect`, which finds a project's staged flow and step.

import type { Command } from "../../spec.ts";

export const flowDetect: Command = {
  name: "flow detect",
  summary: "Which staged flow this project is in, and at which step.",
  usage: "",
  details: [
    "An open run is asked first, then _docs/_autopilot_state.md where it agrees with the folders, then the folders. Nothing is written or executed.",
  ],
  arguments: [],
  flags: [],
  takesRun: false,
  run: async (context) => (await import("../../../../commands/staged/flow-detect.ts")).detect(context, {}),
};
