// assign-agents: assigns an agent to each role of a flow and records it with the run.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { extendableProfiles } from "../../agents/profiles/resolve.ts";
import { agentProfiles, shippedProfile } from "../../agents/profiles/table.ts";
import type { Config } from "../../contracts/config.ts";
import type { Cast } from "../../contracts/event.ts";
import type { Flow } from "../../contracts/flow.ts";
import { Script } from "../../contracts/script.ts";
import { stepsEverywhere } from "../../flows/lists.ts";
import { didYouMean } from "../../kit/suggest.ts";
import { isRefused, readLocated } from "../../kit/located.ts";
import { agentsHere, candidates, agentAvailabilityCommand, isOwnCommand, availabilityOf, unready } from "./agent-availability.ts";
import { calledBy } from "./called-flows.ts";
import { chooseAgent, chosenAgentPath } from "./chosen-agent.ts";
import { loadedFlow } from "./load-checked-flow.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { refuse } from "../../project/reply.ts";

/** Which agent plays which role. A script is read and checked now, and kept with the run, so that an agent cannot change it later. */
export async function assignAgents(
  context: CommandContext,
  agent: string | undefined,
  config: Config,
  flow: Flow,
  keep: (text: string) => Promise<string>,
): Promise<Record<string, Cast>> {
  const roles = await readRoles(context, flow);
  const named = (role: string): string | undefined => agent ?? config.roles?.[role] ?? config.agent;
  const cast: Record<string, Cast> = {};
  for (const role of roles) cast[role] = await castInOrder(context, role, named(role), config, keep);
  return cast;
}

/** `claude,codex`: the first plays; at its provider's limit the next takes over. Each is checked for availability now. */
export async function castInOrder(
  context: CommandContext,
  role: string,
  names: string | undefined,
  config: Config,
  keep: (text: string) => Promise<string>,
): Promise<Cast> {
  const list = (names ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((one) => one !== "");
  if (list.length < 2) return castFor(context, role, names, config, keep);
  if (new Set(list).size < list.length)
    refuse("agent_unavailable", { message: `${names ?? ""} names an agent twice.`, remediation: ["name each agent once, in order"] });
  const [first, ...instead] = await Promise.all(
    list.map(async (name, rank) => ({ ...(await castFor(context, role, name, config, keep)), rank })),
  );
  return { ...(first as Cast), instead };
}

/** Roles of the config that are almost one of these: most likely typos. Any other may be meant for another flow. */
export function unusedRoleWarnings(config: Config, roles: readonly string[]): readonly string[] {
  return Object.keys(config.roles ?? {}).flatMap((role) => {
    const near = roles.includes(role) ? "" : didYouMean(role, roles);
    return near === "" ? [] : [`roles.${role} in the config is not a role of this flow and has no effect.${near}`];
  });
}

export type Inferred = { readonly name: string; readonly why: string };

/** The agent for roles without one; null if every role has one. */
export async function inferredAgent(
  context: CommandContext,
  agent: string | undefined,
  config: Config,
  flow: Flow,
): Promise<Inferred | null> {
  if (agent !== undefined || config.agent !== undefined) return null;
  const nameless = [...(await readRoles(context, flow))].find((role) => config.roles?.[role] === undefined);
  return nameless === undefined ? null : onlyAgent(context, config, nameless);
}

/** The roles of a flow and of every flow it calls: their agents are settled before any agent runs. */
async function readRoles(context: CommandContext, flow: Flow): Promise<ReadonlySet<string>> {
  const called = await calledBy(flow, (name) => loadedFlow(context, name));
  const steps = [flow, ...called.map((calledFlow) => calledFlow.flow)].flatMap((calledFlow) => stepsEverywhere(calledFlow));
  return new Set(steps.flatMap(({ step }) => step.agent ?? []));
}

export async function castFor(
  context: CommandContext,
  role: string,
  name: string | undefined,
  config: Config,
  keep: (text: string) => Promise<string>,
): Promise<Cast> {
  if (name === undefined) return castFor(context, role, (await onlyAgent(context, config, role)).name, config, keep);
  if (name.startsWith("scripted:")) return { agent: "scripted", script: await keep(scriptText(context, name.slice("scripted:".length))) };
  if (name === "scripted")
    return refuse("agent_unavailable", {
      message: "The agent scripted plays a script, and none is named.",
      remediation: ["name its file too: scripted:FILE", "autopilot schema script says what may stand in one"],
    });
  if (!isKnown(name, config)) {
    return refuse("agent_unavailable", {
      message: `There is no agent called ${name} here.${didYouMean(name, known(config))}`,
      remediation: [
        "autopilot agents lists what is here",
        `set agents.${name}.argv in .autopilot/config.yaml to the command of an ACP agent`,
      ],
    });
  }
  const availability = await availabilityOf(context, name, config);
  const { profile, argv, override, login } = availability;
  const { problem, fix } = isOwnCommand(availability) && availability.problem === null ? unready(login) : availability;
  if (problem !== null) {
    return refuse("agent_unavailable", {
      message: `${shippedProfile(name) === null ? name : profile.title} cannot be used here: ${problem}.`,
      remediation: [fix ?? profile.hints.install, `autopilot agents try ${name}`],
      data: { agent: name },
    });
  }
  return { agent: name, argv: [...argv], ...(Object.keys(override).length === 0 ? {} : { override }) };
}

/** The agent if none is named: the only one installed, or the one the user chose. Otherwise refuses with the candidates. */
async function onlyAgent(context: CommandContext, config: Config, role: string): Promise<Inferred> {
  const installed = candidates(await agentsHere(context, config));
  const [only, ...more] = installed;
  if (only !== undefined && more.length === 0) return { name: only.name, why: "it is the only one installed here" };
  const chosen =
    installed.length === 0
      ? null
      : await chooseAgent(
          context,
          installed.map(({ name }) => name),
        );
  if (chosen !== null)
    return { name: chosen.name, why: chosen.isRemembered ? `you chose it before (${chosenAgentPath(context.env)})` : "you chose it" };
  const found =
    installed.length === 0
      ? "none is installed here"
      : `${installed.length} are installed: ${installed.map((agent) => `${agent.name} (${agentAvailabilityCommand(agent).join(" ")})`).join(", ")}`;
  return refuse("agent_unavailable", {
    message: `No agent is named for the role ${role}, and ${found}.`,
    remediation: [
      ...installed.map(({ name }) => `--agent ${name}`),
      ...(installed.length === 0 ? [agentProfiles.claude.hints.install, "autopilot agents shows which agents could be installed"] : []),
      "--agent scripted:FILE plays a script",
    ],
    data: { installed: installed.map(({ name }) => name) },
  });
}

const known = (config: Config): readonly string[] => [
  ...extendableProfiles.filter((name) => name !== "custom"),
  ...Object.keys(config.agents ?? {}),
];
const isKnown = (name: string, config: Config): boolean => known(config).includes(name);

function scriptText(context: CommandContext, file: string): string {
  const path = resolve(context.cwd, file);
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    return refuse("script_invalid", { message: `The script ${file} cannot be read: ${(error as Error).message}` });
  }
  const read = readLocated(path, bytes, Script);
  if (isRefused(read))
    refuse("script_invalid", {
      message: read.findings.map(({ line, message }) => `${file}:${line}: ${message}`).join("; "),
      data: { findings: read.findings },
    });
  return bytes.toString("utf8");
}
