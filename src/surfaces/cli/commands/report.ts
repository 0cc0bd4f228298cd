// report: command-line spec of `report`, which shows what was asked, done, proved and left open.

import { defined } from "../defined.ts";
import type { Command } from "../spec.ts";

export const report: Command = {
  name: "report",
  summary: "What was asked, done, proved, claimed, and is still open.",
  usage: "",
  details: ["What the runner proved and what the agent says stand apart. `autopilot verify` runs the proof again."],
  arguments: [],
  flags: [],
  takesRun: true,
  run: async (place, given) => (await import("../../../commands/report.ts")).report(place, defined({ run: given.run })),
};
