import type { Command } from "../spec.ts";

export const init: Command = {
  name: "init",
  summary: "Write a config to begin with, the ignore lines, and slash commands for the agents found.",
  usage: "[--gitignore]",
  details: ["Not needed before the first run. Nothing that is there already is overwritten."],
  arguments: [],
  flags: [{ name: "gitignore", kind: "flag", about: "Put the ignore lines into .gitignore too, for the whole team." }],
  takesRun: false,
  run: async (place, given) => (await import("../../../host/init.ts")).init(place, { gitignore: given.flag("gitignore") }),
};
