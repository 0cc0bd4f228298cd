import type { Command } from "../spec.ts";

export const roadmap: Command = {
  name: "roadmap",
  summary: "A roadmap of phases: show what was read from it.",
  usage: "[list]",
  details: ["Alone it means `autopilot roadmap list`."],
  arguments: [],
  flags: [],
  takesRun: false,
  run: async (place) => (await import("../../../host/roadmap-list.ts")).roadmapList(place),
};
