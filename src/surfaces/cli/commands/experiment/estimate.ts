// estimate: command-line spec of `estimate`, which estimates the cost of roadmap phases, or of a
// whole run of a flow.

import { omitUndefined } from "../../../../kit/omit-undefined.ts";
import type { Command } from "../../spec.ts";

export const estimate: Command = {
  name: "estimate",
  summary: "Expected cost of phases or a flow, and how good such estimates were. Nothing runs.",
  usage: "[PHASES] | --flow NAME",
  details: [
    "From the nearest earlier phases here (kind, agent, model, size); while fewer than three are known, from constants that `limits` in your config tunes.",
    "The record says how such estimates did: each past run is estimated from the runs before it.",
    "Warns about phases that come near their cap.",
  ],
  arguments: [
    {
      name: "PHASES",
      about: "3, 2.1, 3-7, 3,5,8, next or all; without it all that are not completed",
      isRepeatable: true,
      isOptional: true,
    },
  ],
  flags: [
    {
      name: "flow",
      kind: "text",
      placeholder: "NAME",
      about: "Estimate a whole run of this flow instead.",
      names: "flows",
    },
  ],
  takesRun: false,
  run: async (context, input) => {
    const flow = input.text("flow");
    if (flow !== undefined) {
      return (await import("../../../../commands/estimate-run.ts")).estimateRun(context, { flow });
    }

    return (await import("../../../../commands/roadmap/estimate.ts")).estimate(
      context,
      omitUndefined({ phases: input.words.length === 0 ? undefined : input.words.join(",") }),
    );
  },
};
