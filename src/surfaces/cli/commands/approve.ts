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
  run: async (context, given) =>
    (await import("../../../commands/approve.ts")).approve(
      context,
      defined({ run: given.run, answer: given.words[0], oracles: given.flag("oracles") }),
    ),
};
