// init: command-line spec of `init`, which writes a config, ignore lines and skills.

import type { Command } from "../spec.ts";

export const init: Command = {
  name: "init",
  summary: "Write a config to begin with, the ignore lines, and skills for the agents found.",
  usage: "[--gitignore] [--yes]",
  details: [
    "Not needed before the first run. Never overwrites anything.",
    "On a terminal it shows the agents and checks it found and asks before it writes.",
  ],
  arguments: [],
  flags: [
    {
      name: "gitignore",
      kind: "flag",
      about: "Put the ignore lines into .gitignore too, for the whole team.",
    },
    { name: "yes", kind: "flag", about: "Write without asking." },
  ],
  takesRun: false,
  run: async (context, input) =>
    (await import("../../../commands/init.ts")).init(context, {
      gitignore: input.flag("gitignore"),
      yes: input.flag("yes"),
    }),
};
