// roadmap-list: command-line spec of `roadmap list`, which shows a roadmap's phases and its problems.

import type { Command } from "../spec.ts";

export const roadmapList: Command = {
  name: "roadmap list",
  summary: "Show the phases of a roadmap in execution order, and every problem with its line. Nothing runs.",
  usage: "",
  details: [
    "Reads .planning/ROADMAP.md, else ROADMAP.md; also .planning/config.json and the plans of phases that are not done.",
    "A cycle, an unknown dependency or a phase that is there twice is an error; a stub or a missing section a warning.",
  ],
  arguments: [],
  flags: [],
  takesRun: false,
  run: async (context) => (await import("../../../commands/roadmap/roadmap-list.ts")).roadmapList(context),
};
