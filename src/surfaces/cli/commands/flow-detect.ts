import type { Command } from "../spec.ts";

export const flowDetect: Command = {
  name: "flow detect",
  summary: "Which flow fits what lies in this folder.",
  usage: "",
  details: ["What `autopilot` with no words would take up, and why."],
  arguments: [],
  flags: [],
  takesRun: false,
  run: async (place) => (await import("../../../host/flows.ts")).detect(place, {}),
};
