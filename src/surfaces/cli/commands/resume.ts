// resume: command-line spec of `resume`, which continues a paused run or imports another tool's.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import { parseDrivingFlags, maxCyclesFlag, resumeFlags, yesFlag } from "../driving-flags.ts";
import { parsePlaybookFlags, playbookFlags } from "../playbook-flags.ts";
import { objectiveFlags } from "../objective-flags.ts";
import { type Command, pausesWhenInterrupted } from "../spec.ts";
import { parseStagedFlags, stagedFlags } from "../staged-flags.ts";

/**
 * Flags for resuming another tool's run as one of ours: its files name neither an agent nor a
 * sandbox.
 */
const importFlags = objectiveFlags.filter(({ name }) => name === "agent" || name === "isolation");

export const resume: Command = {
  name: "resume",
  summary: "Continue a paused run.",
  usage: "[--now] [--adopt-config] [--accept-spec-change] [--max-cycles N]",
  details: [
    "First it checks the journal, the lock, the sandbox, the budget and the branch.",
    "If another tool left an unfinished run, it drafts a run that continues it; --yes confirms the preview.",
  ],
  arguments: [],
  flags: [
    ...resumeFlags,
    ...playbookFlags,
    ...stagedFlags,
    maxCyclesFlag,
    { ...yesFlag, about: "Confirm the preview of a run taken over from another tool." },
    ...importFlags,
  ],
  takesRun: true,
  ...pausesWhenInterrupted,
  run: async (context, input) =>
    (await import("../../../commands/resume.ts")).resume(context, {
      words: [],
      ...parseDrivingFlags(input),
      ...omitUndefined({
        run: input.run,
        maxCycles: input.number("max-cycles"),
        flags: parsePlaybookFlags(input),
        asks: parseStagedFlags(input),
        agent: input.text("agent"),
        isolation: input.text("isolation"),
      }),
    }),
};
