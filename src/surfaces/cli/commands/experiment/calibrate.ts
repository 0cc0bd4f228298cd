// calibrate: command-line specs of `calibrate` and its subcommands, which measure whether a change
// to autopilot's own settings helps.

import { omitUndefined } from "../../../../kit/omit-undefined.ts";
import { type Command, type FlagSpec } from "../../spec.ts";

const interruptMessages: Pick<Command, "onInterrupt" | "onTerminate"> = {
  onInterrupt:
    "! Asked to stop: running benchmarks are ended. Once more leaves at once; `autopilot calibrate resume` goes on.",
  onTerminate:
    "! Asked to end: running benchmarks are ended. `autopilot calibrate resume` goes on.",
};
const textFlag = (
  name: string,
  placeholder: string,
  about: string,
  more: Partial<FlagSpec> = {},
): FlagSpec => ({
  name,
  kind: "text",
  placeholder,
  about,
  ...more,
});
const numberFlag = (name: string, about: string, defaultText: string): FlagSpec => ({
  name,
  kind: "number",
  min: 1,
  placeholder: "N",
  about,
  defaultText,
});
const floorFlag = textFlag(
  "noise-floor",
  "N",
  "Smaller changes are noise: 0.05, or a share such as 5%.",
  { defaultText: "0.05" },
);
const iterationFlag = numberFlag("iteration", "Which try at this lever it is, at most 3.", "1");
const betterFlag: FlagSpec = {
  name: "better",
  kind: "enum",
  values: ["higher", "lower"],
  about: "Which way the metric is better.",
  defaultText: "higher",
  isRare: true,
};
const cycleArgument = {
  name: "CYCLE",
  about: "a cycle's name; without it the open one, or the newest",
  isOptional: true,
};
const jobsFlag = numberFlag("jobs", "How many benchmarks run at once.", "1");

const subcommand = (name: string, spec: Omit<Command, "name" | "takesRun">): Command => ({
  name: `calibrate ${name}`,
  takesRun: false,
  ...spec,
});

export const calibrateCommands: readonly Command[] = [
  {
    name: "calibrate",
    summary:
      "Measure whether a change to a prompt, limit, agent or model helps: benchmarks before and after, a verdict.",
    usage: "[start | status | resume | report | list | verdict]",
    details: [
      "Alone it shows how the open cycle stands, or the newest. Its log is Calibration Cycles/<cycle>/run_state.jsonl.",
    ],
    arguments: [],
    flags: [],
    takesRun: false,
    run: async (context) =>
      (await import("../../../../commands/calibrate/show.ts")).showCalibrationStatus(context, {}),
  },
  subcommand("start", {
    summary:
      "Run benchmarks, commit a lever, run them again, and keep or revert it by what they show.",
    usage:
      '--lever ID --benchmarks a,b --hypothesis "…" (--patch FILE | --commit SHA | --apply CMD | --to VALUE) …',
    details: [
      "A benchmark is a folder here, a folder elsewhere or a commit, with its known bugs in BUGS.md. Each run works in a copy without that list.",
      "A lever prompt:FLOW/STEP, limit:NAME, agent:ROLE or model:ROLE takes its new value with --to.",
    ],
    arguments: [],
    flags: [
      textFlag("lever", "ID", "What is under test, as the log names it."),
      textFlag("benchmarks", "LIST", "Comma-separated: WHERE or NAME=WHERE."),
      textFlag("hypothesis", "TEXT", "What you expect, so that figures can contradict it."),
      textFlag("patch", "FILE", "The lever is this patch."),
      textFlag("commit", "SHA", "The lever is what this commit changes."),
      textFlag("apply", "CMD", "The lever is what this command changes in a copy."),
      textFlag("to", "VALUE", "The new value of a typed lever; a prompt's is a file."),
      textFlag("command", "CMD", "What runs as the benchmark, in its folder.", {
        defaultText: "autopilot quality",
      }),
      textFlag(
        "metric",
        "NAME",
        "Judge by a number the command prints, NAME=1.5, instead of recall.",
        { defaultText: "recall" },
      ),
      betterFlag,
      floorFlag,
      numberFlag("repeat", "Run every benchmark N times on each side; gives an interval.", "1"),
      jobsFlag,
      iterationFlag,
      textFlag("name", "NAME", "The cycle's name.", { defaultText: "the date and the lever" }),
      textFlag("baseline", "[NAME=]FILE", "The known bugs of a benchmark.", {
        isRepeatable: true,
        isRare: true,
        defaultText: "BUGS.md in its folder",
      }),
      textFlag("findings", "PATH", "Where the benchmark leaves its bugs.", {
        isRare: true,
        defaultText: "quality/BUGS.md, BUGS.md",
      }),
      textFlag(
        "hang-after",
        "TIME",
        "Without a sign of life for so long it is killed and restarted.",
        { isRare: true, defaultText: "90m" },
      ),
      textFlag("agent", "NAME", "Who works in quality runs.", { isRare: true }),
      textFlag("description", "TEXT", "What the change is.", {
        isRare: true,
        defaultText: "the hypothesis",
      }),
    ],
    ...interruptMessages,
    run: async (context, input) =>
      (await import("../../../../commands/calibrate/start.ts")).startCalibration(
        context,
        omitUndefined({
          name: input.text("name"),
          lever: input.text("lever"),
          to: input.text("to"),
          benchmarks: input.text("benchmarks"),
          hypothesis: input.text("hypothesis"),
          description: input.text("description"),
          apply: input.text("apply"),
          patch: input.text("patch"),
          commit: input.text("commit"),
          command: input.text("command"),
          agent: input.text("agent"),
          findings: input.text("findings"),
          baselines: input.texts("baseline"),
          metric: input.text("metric"),
          better: input.text("better"),
          noiseFloor: input.text("noise-floor"),
          iteration: input.number("iteration"),
          jobs: input.number("jobs"),
          repeat: input.number("repeat"),
          hangAfter: input.text("hang-after"),
        }),
      ),
  }),
  subcommand("status", {
    summary: "Show a cycle's status.",
    usage: "[CYCLE]",
    details: [],
    arguments: [cycleArgument],
    flags: [],
    run: async (context, input) =>
      (await import("../../../../commands/calibrate/show.ts")).showCalibrationStatus(
        context,
        omitUndefined({ name: input.words[0] }),
      ),
  }),
  subcommand("resume", {
    summary: "Go on with an open cycle. What has finished is not run again.",
    usage: "[CYCLE] [--jobs N]",
    details: [
      "A benchmark that ended while nobody watched is taken as it ended; one that is still at work is waited for.",
    ],
    arguments: [cycleArgument],
    flags: [jobsFlag],
    ...interruptMessages,
    run: async (context, input) =>
      (await import("../../../../commands/calibrate/show.ts")).resumeCalibration(
        context,
        omitUndefined({ name: input.words[0], jobs: input.number("jobs") }),
      ),
  }),
  subcommand("report", {
    summary: "Show a cycle's audit page: figures, matches with their reasons, verdict.",
    usage: "[CYCLE] [--html FILE]",
    details: [],
    arguments: [cycleArgument],
    flags: [
      textFlag(
        "html",
        "FILE",
        "Write it as one self-contained HTML file, with a picture of every run.",
      ),
    ],
    run: async (context, input) =>
      (await import("../../../../commands/calibrate/show.ts")).showCalibrationReport(
        context,
        omitUndefined({ name: input.words[0], html: input.text("html") }),
      ),
  }),
  subcommand("list", {
    summary: "List the cycles of this repository.",
    usage: "",
    details: [],
    arguments: [],
    flags: [],
    run: async (context) =>
      (await import("../../../../commands/calibrate/show.ts")).listCalibrations(context),
  }),
  subcommand("verdict", {
    summary: "The verdict of two files of recalls. Nothing is run or written.",
    usage: "--before FILE --after FILE [--noise-floor N] [--iteration N]",
    details: ['Each file is one JSON object: {"chi": 0.5, "express": null}. Null is n/a.'],
    arguments: [],
    flags: [
      textFlag("before", "FILE", "Recalls before the lever."),
      textFlag("after", "FILE", "Recalls after it."),
      floorFlag,
      iterationFlag,
      { ...betterFlag, isRare: false },
    ],
    run: async (context, input) =>
      (await import("../../../../commands/calibrate/verdict.ts")).judgeCalibrationFiles(
        context,
        omitUndefined({
          before: input.text("before"),
          after: input.text("after"),
          noiseFloor: input.text("noise-floor"),
          iteration: input.number("iteration"),
          better: input.text("better"),
        }),
      ),
  }),
];
