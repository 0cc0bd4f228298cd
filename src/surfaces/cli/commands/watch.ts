// watch: command-line spec of `watch`, which follows a run live from another terminal.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";

export const watch: Command = {
  name: "watch",
  summary: "Live view from another terminal.",
  usage: "",
  details: ["Leaving it doesn't affect the run."],
  arguments: [],
  flags: [],
  takesRun: true,
  ofTask: "reads",
  onInterrupt: "· Leaving; the run goes on.",
  run: async (context, input) =>
    (await import("../../../commands/watch.ts")).watch(context, omitUndefined({ run: input.run })),
};
