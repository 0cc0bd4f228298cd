// agents: command-line spec of `agents`, which lists agents or how often their claims were true.

import type { Command } from "../spec.ts";

export const agents: Command = {
  name: "agents",
  summary: "Agents found here, with version, login and sandbox.",
  usage: "[--truth]",
  details: ["`autopilot agents try NAME` gives one a tiny turn in a temporary folder."],
  arguments: [],
  flags: [
    {
      name: "truth",
      kind: "flag",
      about: "How often each agent's claims were true, in this repository's runs.",
    },
  ],
  takesRun: false,
  run: async (context, input) =>
    input.flag("truth")
      ? (await import("../../../commands/truth.ts")).truth(context)
      : (await import("../../../commands/agents.ts")).agents(context, {}),
};
