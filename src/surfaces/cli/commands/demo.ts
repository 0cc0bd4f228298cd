// demo: command-line spec of `demo`, which shows a whole run in a temporary repository.

import type { Command } from "../spec.ts";

export const demo: Command = {
  name: "demo",
  summary: "See the whole thing on a throw-away repository, with the embedded agent. Free, and no network.",
  usage: "[--keep]",
  details: ["Makes a repository in a temporary folder, takes an objective through it, and shows each step with its proof."],
  arguments: [],
  flags: [{ name: "keep", kind: "flag", about: "Leave the repository there to look at." }],
  takesRun: false,
  onInterrupt: "! Ending the demo. Ctrl-C again to quit now.",
  run: async (context, input) => (await import("../../../commands/demo/demo.ts")).demo(context, { keep: input.flag("keep") }),
};
