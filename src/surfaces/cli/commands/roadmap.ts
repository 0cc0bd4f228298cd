// roadmap: command-line spec of `roadmap`, which runs the phases of a roadmap.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import { parseDrivingFlags, resumeFlags, yesFlag } from "../driving-flags.ts";
import { parsePlaybookFlags, playbookFlags } from "../playbook-flags.ts";
import { objectiveFlags, parseObjective } from "../objective-flags.ts";
import { type Command, type FlagSpec, pausesWhenInterrupted } from "../spec.ts";

const sharedFlagNames = [
  "scope",
  "max-budget",
  "agent",
  "isolation",
  "risk-level",
  "approval-policy",
  "option",
];

const roadmapFlags: readonly FlagSpec[] = [
  {
    name: "complete",
    kind: "flag",
    about:
      "Every phase that isn't completed. If one fails, only those that depend on it are skipped.",
  },
  {
    name: "checkpoint-every",
    kind: "number",
    min: 1,
    placeholder: "N",
    about: "Pause for a look after every N phases.",
    defaultText: "never",
  },
  yesFlag,
  ...resumeFlags,
];

export const roadmap: Command = {
  name: "roadmap",
  summary: "Work through the phases of a roadmap, each proved before the next.",
  usage: "[list | PHASES] [--complete] [--checkpoint-every N] [--accept-spec-change] …",
  details: [
    "Reads .planning/ROADMAP.md, else ROADMAP.md. `autopilot roadmap list` shows what was read and runs nothing; `autopilot estimate` says what it may cost.",
    "Without PHASES it continues the open run, or starts with `next`, the first phase that isn't completed.",
    "PHASES: an id (3, 2.1), a range with the decimals in it (3-7), a list (3,5,8), next, or all.",
    "Lists every problem in the roadmap, its config and its plans, with lines, before anything runs.",
    "The specification is locked at the start. If it changes, the run continues only with --accept-spec-change.",
  ],
  arguments: [{ name: "PHASES", about: "which phases", isRepeatable: true, isOptional: true }],
  flags: [
    ...roadmapFlags,
    ...playbookFlags.filter(({ name }) => name === "accept-spec-change"),
    ...objectiveFlags.filter(({ name }) => sharedFlagNames.includes(name)),
  ],
  takesRun: true,
  ...pausesWhenInterrupted,
  run: async (context, input) =>
    (await import("../../../commands/roadmap/roadmap.ts")).roadmap(context, {
      ...parseObjective(input),
      ...parseDrivingFlags(input),
      ...omitUndefined({
        complete: input.flag("complete") || undefined,
        checkpointEvery: input.number("checkpoint-every"),
        flags: parsePlaybookFlags(input),
      }),
    }),
};
