// resume: command-line spec of `resume`, which continues a paused run or imports another tool's.

import { defined } from "../defined.ts";
import { parseDrivingFlags, maxCyclesFlag, resumeFlags, yesFlag } from "../driving-flags.ts";
import { parsePlaybookFlags, playbookFlags } from "../playbook-flags.ts";
import { objectiveFlags } from "../objective-flags.ts";
import { type Command, restsWhenInterrupted } from "../spec.ts";
import { parseStagedFlags, stagedFlags } from "../staged-flags.ts";

/** What another tool's run must be given when it is resumed as one of ours. */
const forImports = objectiveFlags.filter(({ name }) => name === "agent" || name === "isolation");

export const resume: Command = {
  name: "resume",
  summary: "Continue a paused run.",
  usage: "[--now] [--adopt-config] [--accept-spec-change] [--max-cycles N]",
  details: [
    "Checked first: the journal is intact, nobody else works on it, the isolation holds, budget is left, the branch is as it was left.",
    "Where there is no run but the files of one that another tool began, a run of ours is drafted that goes on from them; --yes acknowledges its preview.",
  ],
  arguments: [],
  flags: [
    ...resumeFlags,
    ...playbookFlags,
    ...stagedFlags,
    maxCyclesFlag,
    { ...yesFlag, about: "Acknowledge the preview of a run that is taken over from another tool." },
    ...forImports,
  ],
  takesRun: true,
  ...restsWhenInterrupted,
  run: async (context, input) =>
    (await import("../../../commands/resume.ts")).resume(context, {
      words: [],
      ...parseDrivingFlags(input),
      ...defined({
        run: input.run,
        maxCycles: input.number("max-cycles"),
        flags: parsePlaybookFlags(input),
        asks: parseStagedFlags(input),
        agent: input.text("agent"),
        isolation: input.text("isolation"),
      }),
    }),
};
