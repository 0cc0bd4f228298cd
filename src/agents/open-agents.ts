// open-agents: the agents port over real processes: one process for one turn.

import { randomUUID } from "node:crypto";
import type { Agents, TurnOrder, TurnResult } from "../ports/agent.ts";
import type { ReturnOf } from "./acp/converse.ts";
import { acpLimits, type AcpLimits } from "./acp/limits.ts";
import { sweepMarked } from "./process/end-tree.ts";
import { type Guardian, openGuardian } from "./process/guardian.ts";
import type { Command } from "./process/spawn.ts";
import { belongsToLife, belongsToRun, environmentOfLife } from "./process/mark.ts";
import { type AgentProfile, agentProfiles, argvOf, type Embedded } from "./profiles.ts";

export type AgentsOptions = {
  readonly embedded: Embedded;
  readonly returnOf: ReturnOf;
  /** Names the repository, where two could hold a run of one name: a sweep leaves the other's agents alone. */
  readonly place?: string;
  /** Further or changed profiles, by name; the ones shipped are always there. */
  readonly profiles?: Readonly<Record<string, AgentProfile>>;
  /** A home folder in place of the user's own. */
  readonly home?: string;
  /** Puts isolation around an agent's command: the words alone, or with the environment and the folder it makes of them. */
  readonly wrap?: (argv: readonly string[], order: TurnOrder, env: Readonly<Record<string, string>>) => readonly string[] | Command;
  readonly limits?: Partial<AcpLimits>;
};

export type OpenedAgents = Agents & {
  /** What whoever else starts processes for this life puts into their environment; from now on the guardian looks after them too. */
  readonly guarded: () => Readonly<Record<string, string>>;
  /** Ends what this set of agents began and lets its guardian go. */
  readonly close: () => Promise<void>;
};

export function openAgents(options: AgentsOptions): OpenedAgents {
  const life = randomUUID();
  const place = options.place ?? "";
  const profiles: Readonly<Record<string, AgentProfile>> = { ...agentProfiles, ...options.profiles };
  let guardian: Guardian | null = null;

  const turn = async (order: TurnOrder): Promise<TurnResult> => {
    // An agent named in the config by its command alone is a custom one.
    const profile = profiles[order.cast.agent] ?? agentProfiles.custom;
    const found = argvOf(profile, order.cast, options.embedded);
    if ("problem" in found)
      return {
        kind: "failed",
        reason: "agent_unavailable",
        detail: `The agent cannot be started: ${found.problem}.`,
        said: "",
        usage: null,
      };
    guardian ??= openGuardian(life);
    const { playTurn } = await import("./acp/turn.ts"); // the protocol is loaded with the first turn, so that a run is in hand again before it
    return playTurn(order, {
      profile,
      argv: found.argv,
      wrap: (command) => wrapped(command, options.wrap?.(command.argv, order, command.env)),
      mark: { run: order.run, attempt: order.attempt, place, life },
      home: options.home ?? null,
      guardian,
      returnOf: options.returnOf,
      limits: { ...acpLimits, ...options.limits },
    });
  };

  return {
    turn,
    guarded: () => {
      guardian ??= openGuardian(life);
      return environmentOfLife(life, place);
    },
    // Not this life's own: after a crash attempts are settled one by one, and those settled first are at work already.
    sweep: (run) => sweepMarked((words) => belongsToRun(run, place)(words) && !belongsToLife(life)(words)),
    close: async () => {
      await sweepMarked(belongsToLife(life));
      guardian?.leave();
      guardian = null;
    },
  };
}

function wrapped(plain: Command, made: readonly string[] | Command | undefined): Command {
  if (made === undefined) return plain;
  return "argv" in made ? made : { ...plain, argv: made };
}
