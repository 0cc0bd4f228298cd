// agents-try: command-line spec of `agents try`, which gives an agent one tiny test turn.

import type { Command } from "../spec.ts";

export const agentsTry: Command = {
  name: "agents try",
  summary: "Give an agent one tiny turn in a temporary folder, and show the result.",
  usage: "NAME",
  details: ["Uses the real agent and costs a few tokens."],
  arguments: [{ name: "NAME", about: "the agent's name, or scripted:FILE" }],
  flags: [],
  takesRun: false,
  run: async (context, input) =>
    (await import("../../../commands/agents.ts")).tryAgent(context, { name: input.words[0] ?? "" }),
};
