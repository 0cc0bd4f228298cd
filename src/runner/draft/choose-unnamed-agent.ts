// choose-unnamed-agent: finds the agent if none is named: the only one installed, or the one the
// user chose. Otherwise refuses with the candidates.

import { agentProfiles } from "../../agents/profiles/shipped-profiles.ts";
import type { Config } from "../../contracts/config.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { refuse } from "../../project/respond.ts";
import { findCandidates, listAvailability, toShownCommand } from "./agent-availability.ts";
import { askForAgent, rememberedAgentPath } from "./remembered-agent.ts";

export type InferredAgent = { readonly name: string; readonly why: string };

type Candidate = ReturnType<typeof findCandidates>[number];

export async function chooseUnnamedAgent(
  context: CommandContext,
  config: Config,
  role: string,
): Promise<InferredAgent> {
  const installed = findCandidates(await listAvailability(context, config));
  const [firstAgent, ...otherAgents] = installed;
  if (firstAgent === undefined) return refuseChoice(role, installed);
  if (otherAgents.length === 0) {
    return { name: firstAgent.name, why: "it is the only one installed here" };
  }

  const names = installed.map(({ name }) => name);
  const chosen = await askForAgent(context, names);
  if (chosen === null) return refuseChoice(role, installed);

  const rememberedWhere = `you chose it before (${rememberedAgentPath(context.env)})`;
  return { name: chosen.name, why: chosen.isRemembered ? rememberedWhere : "you chose it" };
}

function refuseChoice(role: string, installed: readonly Candidate[]): never {
  const installHints = [
    agentProfiles.claude.hints.install,
    "autopilot agents shows which agents could be installed",
  ];

  return refuse("agent_unavailable", {
    message: `No agent is named for the role ${role}, and ${describeInstalled(installed)}.`,
    remediation: [
      ...installed.map(({ name }) => `--agent ${name}`),
      ...(installed.length === 0 ? installHints : []),
      "--agent scripted:FILE plays a script",
    ],
    data: { installed: installed.map(({ name }) => name) },
  });
}

function describeInstalled(installed: readonly Candidate[]): string {
  if (installed.length === 0) return "none is installed here";
  const shown = installed.map((agent) => `${agent.name} (${toShownCommand(agent).join(" ")})`);
  return `${installed.length} are installed: ${shown.join(", ")}`;
}
