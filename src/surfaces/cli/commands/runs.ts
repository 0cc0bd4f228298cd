// runs: command-line spec of `runs`, which lists the runs of this project.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";

export const runs: Command = {
  name: "runs",
  summary: "List the runs here: state, age, cost, disk, goal.",
  usage: "[--all] | --trend [--flow NAME]",
  details: [
    "Newest first; * marks the current run, the one that commands without --run use.",
    "--trend shows the runs of a flow that ended: verdict, cost, and what was different from the run before: flow, prompts, agent, model.",
  ],
  arguments: [],
  flags: [
    { name: "all", kind: "flag", about: "All of them, not only the newest." },
    {
      name: "trend",
      kind: "flag",
      about: "How runs of a flow compare, and what changed between them.",
    },
    {
      name: "flow",
      kind: "text",
      placeholder: "NAME",
      about: "With --trend: this flow.",
      defaultText: "the newest run's",
      names: "flows",
    },
  ],
  takesRun: false,
  run: async (context, input) => {
    const flow = input.text("flow");
    if (input.flag("trend") || flow !== undefined) {
      return (await import("../../../commands/experiment/trend.ts")).trend(
        context,
        omitUndefined({ flow }),
      );
    }

    return (await import("../../../commands/runs.ts")).runs(context, { all: input.flag("all") });
  },
};
