// require-may-grant: refuses grants by agents and from inside a run. Every grant passes this one
// check before it is recorded.
//
// Invariants:
//   G1. The actor is determined by the channel (`toActor`), never by the request.
//   G2. An event that core calls a grant is refused to an agent, whichever command or server it
//       uses.
//   G3. A person's grant given from inside a run counts as an agent's, whatever name it uses.

import type { Draft } from "../contracts/event.ts";
import { isAgent, isGrant, isRefusedGrant } from "../core/grants.ts";
import type { CommandContext } from "../project/command-context.ts";
import { isInsideRun } from "../project/inside-run.ts";
import { refuse } from "../project/respond.ts";

type ProposedEvent = Pick<Draft, "event" | "actor"> & { readonly control?: unknown };

export function requireMayGrant(context: CommandContext, proposed: ProposedEvent): void {
  if (isRefusedGrant(proposed)) refuse("agent_may_not_grant"); // G2
  if (
    isGrant(proposed) &&
    proposed.actor !== undefined &&
    proposed.actor !== "system" &&
    !isAgent(proposed.actor)
  ) {
    requireOutsideRun(context);
  } // G3
}

export function requireOutsideRun(context: Pick<CommandContext, "env">): void {
  if (isInsideRun(context)) refuse("inside_a_run");
}
