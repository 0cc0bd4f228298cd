// load-protocol: loads the code that runs a turn in the protocol an agent speaks (ACP, or a command
// that prints JSON lines). It is loaded on demand, so that a run starts sooner.

import { unreachable } from "../kit/unreachable.ts";
import type { TurnRequest, TurnResult } from "../ports/agent.ts";
import type { AgentProtocol } from "./profiles/profile.ts";
import type { PreparedTurn } from "./prepared-turn.ts";

export type RunTurn = (request: TurnRequest, prepared: PreparedTurn) => Promise<TurnResult>;

export async function loadTurnRunner(protocol: AgentProtocol): Promise<RunTurn> {
  switch (protocol) {
    case "acp": {
      const { runAcpTurn } = await import("./acp/acp-turn.ts");
      return runAcpTurn;
    }
    case "claude-stream":
    case "codex-exec": {
      const { runCliTurn } = await import("./cli/cli-turn.ts");
      return (request, prepared) => runCliTurn(protocol, request, prepared);
    }
    default:
      return unreachable(protocol);
  }
}
