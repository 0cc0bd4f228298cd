// validate: command-line spec of `validate`, which checks files of every known format.

import type { Command } from "../spec.ts";

export const validate: Command = {
  name: "validate",
  summary: "Find mistakes in files: file, line and rule.",
  usage: "PATH…",
  details: [
    "Recognises the format by what is in the file, and lists every violation. A folder is looked through for files of these formats. Changes nothing.",
    "Formats: journal, flow, config, agent script, roadmap, plan, planning config, state.json and the reports written with it, run_state.jsonl of a run or a cycle, the files of a portfolio, _autopilot_state.md.",
    "docs/VALIDATE.md explains the rules.",
  ],
  arguments: [{ name: "PATH", about: "a file or folder", isRepeatable: true }],
  flags: [],
  takesRun: false,
  run: async (context, input) =>
    (await import("../../../commands/validate/validate.ts")).validate(context, {
      paths: [...input.words],
    }),
};
