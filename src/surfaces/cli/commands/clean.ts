// clean: command-line spec of `clean`, which frees disk space and removes old runs.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";

export const clean: Command = {
  name: "clean",
  summary: "Free disk: what agents and checks worked in, and old runs if you say so.",
  usage: "[--older-than AGE] [--keep N] [--yes]",
  details: [
    "Without flags it deletes the folders that agents and checks of runs that are over worked in. Nothing is lost by that.",
    "With --older-than or --keep it removes whole runs that are over, after asking. Open runs are never touched,",
    "and a branch with work that is on no other branch stays. `disk_quota` in your config does the same by size.",
  ],
  arguments: [],
  flags: [
    {
      name: "older-than",
      kind: "text",
      placeholder: "AGE",
      form: { matches: /^\d{1,5}[mhdw]$/, says: "a number and m, h, d or w, such as 7d" },
      about: "Remove runs that ended longer ago: 12h, 7d, 4w.",
    },
    {
      name: "keep",
      kind: "number",
      min: 0,
      placeholder: "N",
      about: "Keep the newest N; without --older-than remove the others.",
    },
    { name: "yes", kind: "flag", about: "Don't ask." },
  ],
  takesRun: false,
  run: async (context, input) =>
    (await import("../../../commands/clean.ts")).clean(context, {
      yes: input.flag("yes"),
      ...omitUndefined({ olderThan: input.text("older-than"), keep: input.number("keep") }),
    }),
};
