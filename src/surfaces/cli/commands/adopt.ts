// adopt: command-line spec of `adopt`, which takes over a run that came from elsewhere.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";

export const adopt: Command = {
  name: "adopt",
  summary: "Take over a run that came from elsewhere, after seeing what it would do.",
  usage: "[RUN] [--yes]",
  details: [
    "A run belongs to the user and machine that started it. One that came with a clone, an archive or a copy is only read until you adopt it.",
    "It continues under your config: your sandbox, agents and network rules. The journal records who adopted it.",
  ],
  arguments: [{ name: "RUN", about: "the run's id; default: the current one", isOptional: true }],
  flags: [{ name: "yes", kind: "flag", about: "Adopt it without asking." }],
  takesRun: true,
  run: async (context, input) =>
    (await import("../../../commands/adopt.ts")).adopt(context, {
      yes: input.flag("yes"),
      ...omitUndefined({ run: input.words[0] ?? input.run }),
    }),
};
