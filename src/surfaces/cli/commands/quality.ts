// quality: command-line spec of `quality`, which audits a code base in six phases.

import { qualityRunners } from "../../../contracts/quality/quality-run.ts";
import { omitUndefined } from "../../../kit/omit-undefined.ts";
import { parseDrivingFlags, resumeFlags, yesFlag } from "../driving-flags.ts";
import { objectiveFlags, parseObjective } from "../objective-flags.ts";
import { type Command, type FlagSpec, pausesWhenInterrupted } from "../spec.ts";

const sharedFlagNames = ["max-budget", "approval-policy", "agent", "isolation", "option"];

const qualityFlags: readonly FlagSpec[] = [
  {
    name: "require-docs",
    kind: "flag",
    about:
      "Stop if reference_docs/ has no .md or .txt file. Without this flag the audit uses the code alone.",
  },
  {
    name: "runner",
    kind: "enum",
    values: qualityRunners,
    about: "Which agent works, as the log names it; --agent takes any other.",
    excludes: "agent",
  },
  {
    name: "target-path",
    kind: "text",
    placeholder: "PATH",
    about: "The part of the project that is audited.",
    defaultText: "all of it",
  },
  {
    name: "benchmark",
    kind: "text",
    placeholder: "NAME",
    about: "What the log calls this code base.",
    defaultText: "the folder's name",
  },
  {
    name: "lever-state",
    kind: "text",
    placeholder: "NAME",
    about: "The experiment this run belongs to.",
    defaultText: "baseline",
  },
  {
    name: "playbook-version",
    kind: "text",
    placeholder: "VERSION",
    about: "The version the log names.",
    defaultText: "the flow's",
  },
  yesFlag,
  ...resumeFlags,
];

export const quality: Command = {
  name: "quality",
  summary: "Audit this code base in six phases; the findings land under quality/.",
  usage: "[--require-docs] [--runner NAME] [--target-path PATH] …",
  details: [
    "Explore, generate, review, audit, reconcile, verify. Agents may change quality/ and nothing else; what they leave there lands on your branch after each phase.",
    "The runner keeps quality/run_state.jsonl, quality/PROGRESS.md and quality/results/quality-gate.log. A phase counts as done when the runner itself finds its documents complete.",
    "Continues the open audit, also one that another tool began. The log of a finished one moves to quality/history/.",
  ],
  arguments: [],
  flags: [...qualityFlags, ...objectiveFlags.filter(({ name }) => sharedFlagNames.includes(name))],
  takesRun: true,
  ...pausesWhenInterrupted,
  run: async (context, input) =>
    (await import("../../../commands/quality/quality.ts")).quality(context, {
      ...parseObjective(input),
      ...parseDrivingFlags(input),
      ...omitUndefined({
        benchmark: input.text("benchmark"),
        leverState: input.text("lever-state"),
        playbookVersion: input.text("playbook-version"),
        targetPath: input.text("target-path"),
        runner: input.text("runner"),
        requireDocs: input.flag("require-docs") || undefined,
      }),
    }),
};
