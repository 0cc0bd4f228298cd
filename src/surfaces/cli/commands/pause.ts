// pause: command-line spec of `pause`, which pauses a run at the end of its turn or at once.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";

export const pause: Command = {
  name: "pause",
  summary: "Pause after the current turn (--now: at once).",
  usage: "[--now]",
  details: ["Works from any terminal. Finished work is kept; `autopilot resume` continues there."],
  arguments: [],
  flags: [{ name: "now", kind: "flag", about: "Stop the turn now; its changes are saved aside." }],
  takesRun: true,
  run: async (context, input) =>
    (await import("../../../commands/pause.ts")).pause(context, {
      now: input.flag("now"),
      ...omitUndefined({ run: input.run }),
    }),
};
