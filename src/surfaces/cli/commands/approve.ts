import { defined } from "../defined.ts";
import type { Command } from "../spec.ts";

export const approve: Command = {
  name: "approve",
  summary: "Approve what the run waits for, or give another of its answers.",
  usage: "[ANSWER]",
  details: ["Without ANSWER the recommended one. `autopilot inbox` shows what is asked and which answers there are."],
  arguments: [{ name: "ANSWER", about: "one of the question's answers", optional: true }],
  flags: [],
  takesRun: true,
  run: async (place, given) =>
    (await import("../../../host/approve.ts")).approve(place, defined({ run: given.run, answer: given.words[0] })),
};
