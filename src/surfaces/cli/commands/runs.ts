// runs: command-line spec of `runs`, which lists the runs of this project.

import type { Command } from "../spec.ts";

export const runs: Command = {
  name: "runs",
  summary: "List the runs here: state, age, cost, disk, goal.",
  usage: "[--all]",
  details: ["Newest first; the current run, which a bare command means, has a star. Nothing is changed."],
  arguments: [],
  flags: [{ name: "all", kind: "flag", about: "All of them, not only the newest." }],
  takesRun: false,
  run: async (place, given) => (await import("../../../commands/runs.ts")).runs(place, { all: given.flag("all") }),
};
