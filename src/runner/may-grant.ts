// may-grant: the one place every grant passes before it is written down: none by an agent, none from inside a run.
//
// Invariants:
//   G1. Who acts comes from the channel (`actorOf`), never from what was asked for.
//   G2. What core calls a grant is refused to an agent, whichever command or server asks for it.
//   G3. A person's grant given from inside a run is an agent's, whatever name it goes by.

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
