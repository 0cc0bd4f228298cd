// stop: command-line spec of `stop`, which ends a run for good.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";

export const stop: Command = {
  name: "stop",
  summary: "End a run for good; its branch and journal stay.",
  usage: "[--reason TEXT]",
  details: [
    "Cancels the agent and every process it started, within two seconds, whatever the agent does. A stopped run is never resumed.",
  ],
  arguments: [],
  flags: [{ name: "reason", kind: "text", placeholder: "TEXT", about: "Why, for the journal." }],
  takesRun: true,
  run: async (context, input) =>
    (await import("../../../commands/stop.ts")).stop(
      context,
      omitUndefined({ run: input.run, reason: input.text("reason") }),
    ),
};
