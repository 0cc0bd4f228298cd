import type { Command } from "../spec.ts";

export const config: Command = {
  name: "config",
  summary: "Every setting in force, and where it came from.",
  usage: "",
  details: ["Flags over environment (AUTOPILOT_…) over .autopilot/config.yaml over the user's config.yaml over defaults."],
  arguments: [],
  flags: [],
  takesRun: false,
  run: async (place) => (await import("../../../host/config-show.ts")).config(place, {}),
};
