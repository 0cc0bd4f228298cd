// diff: command-line spec of `diff`, which shows a run's changes as a patch.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";

export const diff: Command = {
  name: "diff",
  summary: "What a run has changed so far, as a patch.",
  usage: "[RUN] [--turn N | --file PATH | --stat]",
  details: [
    "From the run's first commit to the newest on its branch, merged or not. The current turn isn't included.",
    "The output is a patch for `git apply`; binary files are only named.",
  ],
  arguments: [{ name: "RUN", about: "a run's id", isOptional: true }],
  flags: [
    {
      name: "turn",
      kind: "number",
      min: 1,
      placeholder: "N",
      about: "Only this turn, also if its work was discarded.",
    },
    { name: "file", kind: "text", placeholder: "PATH", about: "Only this file." },
    { name: "stat", kind: "flag", about: "Only the files, with the lines added and removed." },
  ],
  takesRun: true,
  ofTask: "reads",
  isRaw: (input) => !input.flag("stat"),
  run: async (context, input) =>
    (await import("../../../commands/diff.ts")).diff(context, {
      stat: input.flag("stat"),
      ...omitUndefined({
        run: input.words[0] ?? input.run,
        file: input.text("file"),
        turn: input.number("turn"),
      }),
    }),
};
