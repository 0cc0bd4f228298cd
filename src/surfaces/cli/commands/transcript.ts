// transcript: command-line spec of `transcript`, which shows what the agent said and did.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";

export const transcript: Command = {
  name: "transcript",
  summary: "What the agent said and did: its words, tool calls, commands and their output.",
  usage: "[RUN] [--turn N | --all]",
  details: [
    "Shows the last turn on one screen; --turn and --all show everything. Secrets are removed before anything is written.",
    "At most 4 MB a turn and 64 MB a run are kept; the oldest turns are deleted first.",
    "This is what the agent reported. `autopilot diff` shows what changed, `autopilot report` what was proved.",
  ],
  arguments: [{ name: "RUN", about: "a run's id", isOptional: true }],
  flags: [
    {
      name: "turn",
      kind: "number",
      min: 1,
      placeholder: "N",
      excludes: "all",
      about: "Only this turn, in full.",
    },
    { name: "all", kind: "flag", about: "Every turn, in full." },
  ],
  takesRun: true,
  ofTask: "reads",
  run: async (context, input) =>
    (await import("../../../commands/transcript.ts")).transcript(context, {
      all: input.flag("all"),
      ...omitUndefined({ run: input.words[0] ?? input.run, turn: input.number("turn") }),
    }),
};
