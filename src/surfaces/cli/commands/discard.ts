// discard: command-line spec of `discard`, which removes drafts and finished runs.

import type { Command } from "../spec.ts";

export const discard: Command = {
  name: "discard",
  summary: "Remove drafts and runs that are over, with their branches.",
  usage: "[RUN…] [--yes]",
  details: [
    "Without RUN all drafts. A run that is open or being worked on is refused.",
    "If a branch has work that is on no other branch, you are asked first; --yes answers.",
  ],
  arguments: [{ name: "RUN", about: "runs' ids", isOptional: true, isRepeatable: true }],
  flags: [{ name: "yes", kind: "flag", about: "Don't ask." }],
  takesRun: true,
  run: async (context, input) =>
    (await import("../../../commands/discard.ts")).discard(context, {
      runs: [...input.words, ...(input.run === undefined ? [] : [input.run])],
      yes: input.flag("yes"),
    }),
};
