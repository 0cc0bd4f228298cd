// replay-fork: command-line specs of `replay`, which runs one step again, and `fork`, which begins
// a new run from a line of another.

import { omitUndefined } from "../../../../kit/omit-undefined.ts";
import { maxCyclesFlag, yesFlag } from "../../driving-flags.ts";
import { type Command, type FlagSpec, pausesWhenInterrupted } from "../../spec.ts";

const changeFlags: readonly FlagSpec[] = [
  {
    name: "agent",
    kind: "text",
    placeholder: "NAME",
    about: "Who works instead: an agent's name, or scripted:FILE.",
  },
  { name: "model", kind: "text", placeholder: "NAME", about: "The model that works instead." },
  {
    name: "prompt",
    kind: "text",
    placeholder: "[STEP=]FILE",
    about: "Another prompt, for that step or the one under way.",
  },
];
const runArgument = {
  name: "RUN",
  about: "the run's id; default: the current one",
  isOptional: true,
};

export const replay: Command = {
  name: "replay",
  summary: "Run one step again from its recorded input, and compare outcome, cost and change.",
  usage: "[RUN] --step STEP [--agent NAME] [--model NAME] [--prompt FILE] [--yes]",
  details: [
    "It works in a folder that is thrown away: the run, its branch and your checkout stay as they are. The turn is paid like any other.",
    "The step begins at the commit it began at then, whatever has happened since, and the checks that followed it run again too.",
  ],
  arguments: [runArgument],
  flags: [
    {
      name: "step",
      kind: "text",
      placeholder: "STEP",
      about: "A step's name (its last attempt), or an attempt such as 1@1/execute#2.",
    },
    ...changeFlags,
    { ...yesFlag, about: "Run it without asking." },
  ],
  takesRun: true,
  onInterrupt:
    "! Asked to stop: the replay ends, and nothing has changed. Once more leaves at once.",
  run: async (context, input) =>
    (await import("../../../../commands/experiment/replay.ts")).replay(context, {
      yes: input.flag("yes"),
      ...omitUndefined({
        run: input.words[0] ?? input.run,
        step: input.text("step"),
        agent: input.text("agent"),
        model: input.text("model"),
        prompt: input.text("prompt"),
      }),
    }),
};

export const fork: Command = {
  name: "fork",
  summary:
    "Begin a new run from a line of another: finished steps are taken over, only what is new is paid.",
  usage: "[RUN] [--at SEQ] [--agent NAME] [--model NAME] [--prompt FILE] [--limit NAME=N] [--yes]",
  details: [
    "`autopilot log -v` shows the lines. Without --at it goes on where the run stopped, was killed, or was before it ended.",
    "The other run stays as it is. The limits hold for what the new run buys.",
  ],
  arguments: [runArgument],
  flags: [
    {
      name: "at",
      kind: "number",
      min: 1,
      placeholder: "SEQ",
      about: "The last line that is taken over.",
      defaultText: "the newest possible",
    },
    ...changeFlags,
    {
      name: "limit",
      kind: "text",
      placeholder: "NAME=N",
      about: "Another limit: tokens=300k, phase.tokens=+100k.",
      isRepeatable: true,
    },
    maxCyclesFlag,
    { ...yesFlag, about: "Begin it without asking." },
  ],
  takesRun: true,
  ...pausesWhenInterrupted,
  run: async (context, input) =>
    (await import("../../../../commands/experiment/fork.ts")).fork(context, {
      yes: input.flag("yes"),
      ...omitUndefined({
        run: input.words[0] ?? input.run,
        at: input.number("at"),
        agent: input.text("agent"),
        model: input.text("model"),
        prompt: input.text("prompt"),
        limits: input.texts("limit"),
        maxCycles: input.number("max-cycles"),
      }),
    }),
};
