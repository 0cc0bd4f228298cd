import { defined } from "../defined.ts";
import type { Command } from "../spec.ts";

export const status: Command = {
  name: "status",
  summary: "Where the run stands: state, budget, progress, what to do next.",
  usage: "",
  details: ["Reads only the journal: it never waits for a run that works and never changes anything."],
  arguments: [],
  flags: [],
  takesRun: true,
  run: async (place, given) => (await import("../../../host/status.ts")).status(place, defined({ run: given.run })),
};
