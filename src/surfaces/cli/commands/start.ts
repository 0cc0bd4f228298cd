// start: command-line spec of `start`, which writes a draft and shows its preview.

import { goalArgument, objectiveFlags, parseObjective } from "../objective-flags.ts";
import type { Command } from "../spec.ts";

export const start: Command = {
  name: "start",
  summary: "Preview a run without executing it.",
  usage: "[GOAL…] [--scope GLOBS] [--done-criteria 'TEXT :: COMMAND'] …",
  details: [
    "Checks the goal, fills in defaults and shows the preview: phases, agents, scope, checks, limits, sandbox, estimate.",
    "To confirm it: `autopilot ack ID`, then `autopilot go`. Changing the goal, flow, config or scope changes the id.",
    'Quote values of more than one word: --goal "fix docs" --scope "docs/**,README.md".',
  ],
  arguments: [goalArgument],
  flags: objectiveFlags,
  takesRun: false,
  run: async (context, input) =>
    (await import("../../../commands/start.ts")).start(context, parseObjective(input)),
};
