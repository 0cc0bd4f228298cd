// assign-agents: assigns an agent to each role of a flow: the one that is named for it, or the only
// one installed. Refuses an agent that cannot be used here.

import type { Config } from "../../contracts/config.ts";
import type { Cast } from "../../contracts/event.ts";
import type { Flow } from "../../contracts/flow.ts";
import { listAllSteps } from "../../flows/step-lists.ts";
import { didYouMean } from "../../kit/suggest.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { refuse } from "../../project/respond.ts";
import { assignAgent, type AssignmentInputs } from "./assign-agent.ts";
import { loadCalledFlows } from "./called-flows.ts";
import { chooseUnnamedAgent, type InferredAgent } from "./choose-unnamed-agent.ts";
import { loadCheckedFlow } from "./load-checked-flow.ts";

/**
 * Assigns an agent to each role of a flow: the given one, else the config's. A script is read and
 * checked now, and stored with the run, so that an agent cannot change it later.
 */
export async function assignAgents(
  inputs: AssignmentInputs,
  flow: Flow,
  agent: string | undefined,
): Promise<Record<string, Cast>> {
  const { context, config } = inputs;
  const assigned: Record<string, Cast> = {};

  for (const role of await collectRoles(context, flow)) {
    const names = agent ?? config.roles?.[role] ?? config.agent;
    assigned[role] = await assignAgentList(inputs, role, names);
  }

  return assigned;
}

/**
 * Assigns a list of agents to a role, `claude,codex`: at a provider's limit the next one takes over.
 * Each is checked for availability now.
 */
export async function assignAgentList(
  inputs: AssignmentInputs,
  role: string,
  names: string | undefined,
): Promise<Cast> {
  const trimmedNames = (names ?? "").split(",").map((name) => name.trim());
  const list = trimmedNames.filter((name) => name !== "");
  if (list.length < 2) return assignAgent(inputs, role, list[0] ?? names);

  if (new Set(list).size < list.length) {
    refuse("agent_unavailable", {
      message: `${names ?? ""} names an agent twice.`,
      remediation: ["name each agent once, in order"],
    });
  }

  const [first, ...instead] = await Promise.all(
    list.map(async (name, rank) => ({ ...(await assignAgent(inputs, role, name)), rank })),
  );
  return { ...(first as Cast), instead };
}

/**
 * Warns of roles in the config that are almost one of these: most likely typos. Any other may be
 * meant for another flow.
 */
export function listUnusedRoleWarnings(
  config: Config,
  roles: readonly string[],
): readonly string[] {
  const unusedRoles = Object.keys(config.roles ?? {}).filter((role) => !roles.includes(role));

  return unusedRoles.flatMap((role) => {
    const suggestion = didYouMean(role, roles);
    if (suggestion === "") return [];
    return `roles.${role} in the config is not a role of this flow and has no effect.${suggestion}`;
  });
}

/**
 * Chooses the agent for roles to which the config assigns none; null if it assigns one to every
 * role.
 */
export async function inferAgent(
  context: CommandContext,
  config: Config,
  flow: Flow,
): Promise<InferredAgent | null> {
  if (config.agent !== undefined) return null;
  const roles = [...(await collectRoles(context, flow))];
  const unassignedRole = roles.find((role) => config.roles?.[role] === undefined);
  if (unassignedRole === undefined) return null;
  return chooseUnnamedAgent(context, config, unassignedRole);
}

/**
 * Collects the roles of a flow and of every flow it calls: their agents are assigned before any
 * agent runs.
 */
async function collectRoles(context: CommandContext, flow: Flow): Promise<ReadonlySet<string>> {
  const calledFlows = await loadCalledFlows(flow, (name) => loadCheckedFlow(context, name));
  const flows = [flow, ...calledFlows.map((called) => called.flow)];
  const steps = flows.flatMap(listAllSteps);
  return new Set(steps.flatMap(({ step }) => step.agent ?? []));
}
