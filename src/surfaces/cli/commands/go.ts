// go: command-line spec of `go`, the default command: starts a run or resumes the open one.

import { defined } from "../defined.ts";
import { parseDrivingFlags, maxCyclesFlag, resumeFlags, yesFlag } from "../driving-flags.ts";
import { parsePlaybookFlags, playbookFlags } from "../playbook-flags.ts";
import { goalArgument, objectiveFlags, parseObjective } from "../objective-flags.ts";
import { type Command, type FlagSpec, restsWhenInterrupted } from "../spec.ts";
import { parseStagedFlags, stagedFlags } from "../staged-flags.ts";

const goFlags: readonly FlagSpec[] = [yesFlag, maxCyclesFlag, ...resumeFlags, ...playbookFlags, ...stagedFlags];

export const go: Command = {
  name: "go",
  summary: "Start a run or continue the open one, and work until it is done or needs you.",
  usage: "[GOAL…] [--yes] [--max-cycles N] …",
  details: [
    '`autopilot` alone and `autopilot "a goal"` mean this command.',
    "With no words it takes up the open run, else a document flow found here: a roadmap, a staged project, another tool's run. A preview that nobody acknowledged is shown first: on a terminal you are asked, elsewhere give --yes or `autopilot ack`.",
    "Ctrl-C once pauses when the turn ends; twice pauses now. Either way `autopilot resume` goes on.",
    "Exit 0: verified, or left for a reason that is no failure; 1: a failure, explained; 2: usage; 70: a bug of autopilot's.",
  ],
  arguments: [goalArgument],
  flags: [...goFlags, ...objectiveFlags],
  takesRun: true,
  ...restsWhenInterrupted,
  run: async (context, input) =>
    (await import("../../../commands/go.ts")).go(context, {
      ...parseObjective(input),
      ...parseDrivingFlags(input),
      ...defined({
        maxCycles: input.number("max-cycles"),
        flags: parsePlaybookFlags(input),
        asks: parseStagedFlags(input),
      }),
    }),
};
