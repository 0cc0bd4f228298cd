// approve: command-line spec of `approve`, which approves what a run waits for.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";

export const approve: Command = {
  name: "approve",
  summary: "Approve a step.",
  usage: "[ANSWER]",
  details: [
    "Without ANSWER it gives the recommended one. `autopilot inbox` shows the question and its answers.",
  ],
  arguments: [{ name: "ANSWER", about: "one of the question's answers", isOptional: true }],
  flags: [],
  takesRun: true,
  run: async (context, input) =>
    (await import("../../../commands/approve.ts")).approve(
      context,
      omitUndefined({ run: input.run, answer: input.words[0] }),
    ),
};
