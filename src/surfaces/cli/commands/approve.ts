// approve: command-line spec of `approve`, which approves what a run waits for.

import { defined } from "../defined.ts";
import type { Command } from "../spec.ts";

export const approve: Command = {
  name: "approve",
  summary: "Approve a step, or changes to tests.",
  usage: "[ANSWER]",
  details: ["Without ANSWER the recommended one. `autopilot inbox` shows what is asked and which answers there are."],
  arguments: [{ name: "ANSWER", about: "one of the question's answers", optional: true }],
  flags: [{ name: "oracles", kind: "flag", about: "Approve the changed tests and test settings, in exactly this content." }],
  takesRun: true,
  run: async (context, input) =>
    (await import("../../../commands/approve.ts")).approve(
      context,
      defined({ run: input.run, answer: input.words[0], oracles: input.flag("oracles") }),
    ),
};
