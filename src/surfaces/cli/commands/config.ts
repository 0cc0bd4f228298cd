// config: command-line spec of `config`, which shows every setting in force and its source.

import type { Command } from "../spec.ts";

export const config: Command = {
  name: "config",
  summary: "Every setting in force, and where it came from.",
  usage: "",
  details: [
    "Flags over environment (AUTOPILOT_…) over .autopilot/config.yaml over the user's config.yaml over defaults. docs/CONFIG.md explains every key.",
    "`limits` tunes the breaker's thresholds, the caps and the constants of an estimate by their names (docs/FLOWS.md, \"Limits of the config\"). The project's file only tightens them.",
  ],
  arguments: [],
  flags: [],
  takesRun: false,
  run: async (context) =>
    (await import("../../../commands/config-show.ts")).showConfig(context, {}),
};
