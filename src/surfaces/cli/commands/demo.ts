// demo: command-line spec of `demo`, which shows a whole run in a temporary repository.

import type { Command } from "../spec.ts";

export const demo: Command = {
  name: "demo",
  summary: "See a whole run in a temporary repository, with the embedded agent. Free, offline.",
  usage: "[--keep]",
  details: [
    "Creates a repository in a temporary folder, runs a goal in it, and shows each step with its proof.",
  ],
  arguments: [],
  flags: [{ name: "keep", kind: "flag", about: "Keep the repository." }],
  takesRun: false,
  onInterrupt: "! Ending the demo. Ctrl-C again to quit now.",
  run: async (context, input) =>
    (await import("../../../commands/demo/demo.ts")).demo(context, { keep: input.flag("keep") }),
};
