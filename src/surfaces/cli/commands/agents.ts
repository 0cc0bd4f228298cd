// agents: command-line spec of `agents`, which lists agents or how often their claims were true.

import type { Command } from "../spec.ts";

export const agents: Command = {
  name: "agents",
  summary: "Every agent found here, how it is driven, contained, and what it can report.",
  usage: "[--truth]",
  details: ["`autopilot agents try NAME` gives one a tiny turn in a throw-away folder."],
  arguments: [],
  flags: [{ name: "truth", kind: "flag", about: "How often what each agent said held, in the runs of this repository." }],
  takesRun: false,
  run: async (context, input) =>
    input.flag("truth")
      ? (await import("../../../commands/truth.ts")).truth(context)
      : (await import("../../../commands/agents.ts")).agents(context, {}),
};
