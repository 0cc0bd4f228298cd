// go: command-line spec of `go`, the default command: starts a run or resumes the open one.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import { parseDrivingFlags, maxCyclesFlag, resumeFlags, yesFlag } from "../driving-flags.ts";
import { parsePlaybookFlags, playbookFlags } from "../playbook-flags.ts";
import { goalArgument, objectiveFlags, parseObjective } from "../objective-flags.ts";
import { type Command, type FlagSpec, pausesWhenInterrupted } from "../spec.ts";
import { parseStagedFlags, stagedFlags } from "../staged-flags.ts";

const goFlags: readonly FlagSpec[] = [
  yesFlag,
  maxCyclesFlag,
  ...resumeFlags,
  ...playbookFlags,
  ...stagedFlags,
];

export const go: Command = {
  name: "go",
  summary: "Start a run or continue the open one, and work until it is done or needs you.",
  usage: "[GOAL…] [--yes] [--max-cycles N] …",
  details: [
    '`autopilot` alone and `autopilot "a goal"` mean this command.',
    "Without a goal it continues the open run, or starts the roadmap, staged project or other tool's run found here. It shows the preview first: on a terminal you are asked, elsewhere give --yes or `autopilot ack`.",
    "Ctrl-C once pauses when the turn ends; twice pauses now. `autopilot resume` continues.",
    "Exit codes: 0 passed, or a warning (unproved, waiting for you, paused as planned or asked); 1 failed, stopped or paused by a limit or error; 2 usage error; 70 bug in autopilot. A script that needs proof reads `verdict` in --json.",
  ],
  arguments: [goalArgument],
  flags: [...goFlags, ...objectiveFlags],
  takesRun: true,
  ...pausesWhenInterrupted,
  run: async (context, input) =>
    (await import("../../../commands/go.ts")).go(context, {
      ...parseObjective(input),
      ...parseDrivingFlags(input),
      ...omitUndefined({
        maxCycles: input.number("max-cycles"),
        flags: parsePlaybookFlags(input),
        asks: parseStagedFlags(input),
      }),
    }),
};
