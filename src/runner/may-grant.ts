// may-grant: the one check that every grant passes before it is recorded: none by an agent, none from inside a run.
//
// Invariants:
//   G1. The actor is determined by the channel (`actorOf`), never by the request.
//   G2. What core calls a grant is refused to an agent, from whichever command or server.
//   G3. A person's grant given from inside a run counts as an agent's, whatever name it uses.

import type { Draft } from "../contracts/event.ts";
import { isAgent, isGrant, isRefusedGrant } from "../core/grants.ts";
import type { CommandContext } from "../project/command-context.ts";
import { isInsideRun } from "../project/inside-run.ts";
import { refuse } from "../project/reply.ts";

type Asked = Pick<Draft, "event" | "actor"> & { readonly control?: unknown };

export function requireMayGrant(context: CommandContext, asked: Asked): void {
  if (isRefusedGrant(asked)) refuse("agent_may_not_grant"); // G2
  if (isGrant(asked) && asked.actor !== undefined && asked.actor !== "system" && !isAgent(asked.actor)) requireOutside(context); // G3
}

export function requireOutside(place: Pick<CommandContext, "env">): void {
  if (isInsideRun(place)) refuse("inside_a_run");
}
