// verify: command-line spec of `verify`, which re-checks a run's journal and evidence.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";

export const verify: Command = {
  name: "verify",
  summary: "Re-run every recorded check, and check the journal.",
  usage: "[RUN] [--chain-only]",
  details: [
    "Checks every blob and commit, runs the recorded commands again on the recorded commits, and compares.",
    "Works on another machine too, from a clone and a copy of the run's folder, once you adopt the run.",
    "Exits with 1 if the verdict differs now.",
  ],
  arguments: [{ name: "RUN", about: "the run's id; default: the current one", isOptional: true }],
  flags: [{ name: "chain-only", kind: "flag", about: "Only the journal; run nothing." }],
  takesRun: true,
  ofTask: "reads",
  onInterrupt: "! Ending the check that runs. Once more leaves at once.",
  run: async (context, input) =>
    (await import("../../../commands/verify/verify.ts")).verify(context, {
      chainOnly: input.flag("chain-only"),
      ...omitUndefined({ run: input.words[0] ?? input.run }),
    }),
};
