// protocol-for: the protocol an agent speaks (ACP, or a CLI that prints JSON lines). Each is loaded on demand, so that a run resumes
// sooner.

import { unreachable } from "../kit/never.ts";
import type { TurnRequest, TurnResult } from "../ports/agent.ts";
import type { Speech } from "./profiles/profile.ts";
import type { TurnEnvironment } from "./turn-environment.ts";

/** Runs a whole turn. */
export type Speak = (request: TurnRequest, environment: TurnEnvironment) => Promise<TurnResult>;

export async function protocolFor(speech: Speech): Promise<Speak> {
  switch (speech) {
    case "acp": {
      const { acpTurn } = await import("./acp/turn.ts");
      return acpTurn;
    }
    case "claude-stream":
    case "codex-exec": {
      const { cliTurn } = await import("./cli/turn.ts");
      return (request, environment) => cliTurn(speech, request, environment);
    }
    default:
      return unreachable(speech);
  }
}
