// log: command-line spec of `log`, which shows a run's journal.

import { defined } from "../defined.ts";
import type { Command } from "../spec.ts";

export const log: Command = {
  name: "log",
  summary: "Everything that happened.",
  usage: "[--since SEQ] [--jsonl]",
  details: ["One line a fact: number, time, what happened, who did it. --json gives the events as an array, --jsonl one a line."],
  arguments: [],
  flags: [
    { name: "jsonl", kind: "flag", excludes: "json", about: "The events as they lie in the journal, one JSON object a line." },
    { name: "since", kind: "number", placeholder: "SEQ", about: "Only from this number on." },
  ],
  takesRun: true,
  readsRun: true,
  isRaw: (input) => input.flag("jsonl"),
  run: async (context, input, print) =>
    (await import("../../../commands/log.ts")).log(context, {
      jsonl: input.flag("jsonl"),
      print,
      ...defined({ run: input.run, since: input.number("since") }),
    }),
};
