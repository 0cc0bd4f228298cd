import type { Command } from "../spec.ts";

export const agents: Command = {
  name: "agents",
  summary: "Every agent found here, how it is driven, contained, and what it can report.",
  usage: "",
  details: ["`autopilot agents try NAME` gives one a tiny turn in a throw-away folder."],
  arguments: [],
  flags: [],
  takesRun: false,
  run: async (place) => (await import("../../../host/agents.ts")).agents(place, {}),
};
