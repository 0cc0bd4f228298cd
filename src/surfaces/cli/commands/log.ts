// log: command-line spec of `log`, which shows a run's journal.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";

export const log: Command = {
  name: "log",
  summary: "Everything that happened.",
  usage: "[--since SEQ] [--jsonl]",
  details: ["One line per event. --json prints them as an array, --jsonl one per line."],
  arguments: [],
  flags: [
    {
      name: "jsonl",
      kind: "flag",
      excludes: "json",
      about: "The events as in the journal, one JSON object per line.",
    },
    { name: "since", kind: "number", placeholder: "SEQ", about: "Only from this number on." },
  ],
  takesRun: true,
  ofTask: "reads",
  isRaw: (input) => input.flag("jsonl"),
  run: async (context, input, print) =>
    (await import("../../../commands/log.ts")).log(context, {
      jsonl: input.flag("jsonl"),
      print,
      ...omitUndefined({ run: input.run, since: input.number("since") }),
    }),
};
