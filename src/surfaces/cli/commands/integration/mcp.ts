// mcp: command-line spec of `mcp`, the server through which other agents and editors look at runs,
// draft and pause.

import type { Command } from "../../spec.ts";

export const mcp: Command = {
  name: "mcp",
  summary: "Serve this project's runs to agents and editors over MCP on stdio.",
  usage: "[--as-operator TOOLS]",
  details: [
    "Started by an MCP client: claude mcp add autopilot -- autopilot mcp. Its tools read, draft, propose and pause; what they do is journaled as agent:<client>.",
    "--as-operator adds tools that act as you: ack, answer, resume, stop, budget_raise. Only for a session that you watch. Inside a run there is no server.",
  ],
  arguments: [],
  flags: [
    {
      name: "as-operator",
      kind: "text",
      placeholder: "TOOLS",
      about: "Also offer these tools, acting as you: answer,ack.",
    },
  ],
  takesRun: false,
  onInterrupt: "",
  isRaw: () => true,
  run: async (context, input, print) =>
    (await import("../../../mcp/serve.ts")).serveMcp(
      context,
      {
        grants: (input.text("as-operator") ?? "")
          .split(",")
          .map((name) => name.trim())
          .filter((name) => name !== ""),
      },
      print,
    ),
};
