// roadmap-list: command-line spec of `roadmap list`, which shows a roadmap's phases and its
// problems.

import type { Command } from "../spec.ts";

export const roadmapList: Command = {
  name: "roadmap list",
  summary:
    "Show the phases of a roadmap in execution order, and every problem with its line. Nothing runs.",
  usage: "",
  details: [
    "Reads .planning/ROADMAP.md, else ROADMAP.md; also .planning/config.json and the plans of phases that are not done.",
    "Cycles, unknown dependencies and duplicate phases are errors; stubs and missing sections are warnings.",
  ],
  arguments: [],
  flags: [],
  takesRun: false,
  run: async (context) =>
    (await import("../../../commands/roadmap/roadmap-list.ts")).roadmapList(context),
};
