// assign-agents: finds for each role of a flow the agent that plays it (its "cast"): the one that
// is named, or the only one installed; refuses one that cannot be used here. Scripts are stored
// with the run.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { extendableProfiles } from "../../agents/profiles/resolve-profile.ts";
import { agentProfiles, findShippedProfile } from "../../agents/profiles/table.ts";
import type { Config } from "../../contracts/config.ts";
import type { Cast } from "../../contracts/event.ts";
import type { Flow } from "../../contracts/flow.ts";
import { Script } from "../../contracts/script.ts";
import { listAllSteps } from "../../flows/step-lists.ts";
import { didYouMean } from "../../kit/suggest.ts";
import { isRefused, readLocated } from "../../kit/located.ts";
import {
  listAvailability,
  findCandidates,
  toShownCommand,
  isOwnCommand,
  checkAvailability,
  describeLoginProblem,
} from "./agent-availability.ts";
import { loadCalledFlows } from "./called-flows.ts";
import { chooseAgent, chosenAgentPath } from "./chosen-agent.ts";
import { loadCheckedFlow } from "./load-checked-flow.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { refuse } from "../../project/respond.ts";

/** What assigning an agent to a role needs. */
export type CastingParts = {
  readonly context: CommandContext;
  readonly config: Config;
  /** Stores a script's text with the run and returns its hash. */
  readonly storeScript: (text: string) => Promise<string>;
};

/**
 * Assigns an agent to each role of a flow: the given one, else the config's. A script is read and
 * checked now, and stored with the run, so that an agent cannot change it later.
 */
export async function assignAgents(
  casting: CastingParts,
  flow: Flow,
  agent: string | undefined,
): Promise<Record<string, Cast>> {
  const { context, config } = casting;
  const cast: Record<string, Cast> = {};

  for (const role of await collectRoles(context, flow)) {
    cast[role] = await castAgents(casting, role, agent ?? config.roles?.[role] ?? config.agent);
  }

  return cast;
}

/**
 * Assigns a list of agents, `claude,codex`: at a provider's limit the next one takes over. Each is
 * checked for availability now.
 */
export async function castAgents(
  casting: CastingParts,
  role: string,
  names: string | undefined,
): Promise<Cast> {
  const list = (names ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((name) => name !== "");
  if (list.length < 2) return castAgent(casting, role, list[0] ?? names);
  if (new Set(list).size < list.length) {
    refuse("agent_unavailable", {
      message: `${names ?? ""} names an agent twice.`,
      remediation: ["name each agent once, in order"],
    });
  }

  const [first, ...instead] = await Promise.all(
    list.map(async (name, rank) => ({ ...(await castAgent(casting, role, name)), rank })),
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
  return Object.keys(config.roles ?? {}).flatMap((role) => {
    const suggestion = roles.includes(role) ? "" : didYouMean(role, roles);
    return suggestion === ""
      ? []
      : [`roles.${role} in the config is not a role of this flow and has no effect.${suggestion}`];
  });
}

export type InferredAgent = { readonly name: string; readonly why: string };

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
  const unassigned = [...(await collectRoles(context, flow))].find(
    (role) => config.roles?.[role] === undefined,
  );
  return unassigned === undefined ? null : chooseUnnamedAgent(context, config, unassigned);
}

/**
 * Collects the roles of a flow and of every flow it calls: their agents are settled before any
 * agent runs.
 */
async function collectRoles(context: CommandContext, flow: Flow): Promise<ReadonlySet<string>> {
  const called = await loadCalledFlows(flow, (name) => loadCheckedFlow(context, name));
  const steps = [flow, ...called.map((one) => one.flow)].flatMap(listAllSteps);
  return new Set(steps.flatMap(({ step }) => step.agent ?? []));
}

/**
 * Checks that one agent can be used and returns how to start it; without a name, the only one
 * installed.
 */
export async function castAgent(
  casting: CastingParts,
  role: string,
  name: string | undefined,
): Promise<Cast> {
  const { context, config, storeScript } = casting;
  if (name === undefined) {
    return castAgent(casting, role, (await chooseUnnamedAgent(context, config, role)).name);
  }

  if (name.startsWith("scripted:")) {
    return {
      agent: "scripted",
      script: await storeScript(readScript(context, name.slice("scripted:".length))),
    };
  }

  if (name === "scripted") {
    return refuse("agent_unavailable", {
      message: "The agent scripted plays a script, and none is named.",
      remediation: [
        "name its file too: scripted:FILE",
        "autopilot schema script says what may stand in one",
      ],
    });
  }

  if (!isKnown(name, config)) {
    return refuse("agent_unavailable", {
      message: `There is no agent called ${name} here.${didYouMean(name, listKnownAgents(config))}`,
      remediation: [
        "autopilot agents lists what is here",
        `set agents.${name}.argv in .autopilot/config.yaml to the command of an ACP agent`,
      ],
    });
  }

  const availability = await checkAvailability(context, name, config);
  const { profile, argv, override, login } = availability;
  const { problem, fix } =
    isOwnCommand(availability) && availability.problem === null
      ? describeLoginProblem(login)
      : availability;
  if (problem !== null) {
    return refuse("agent_unavailable", {
      message: `${findShippedProfile(name) === null ? name : profile.title} cannot be used here: ${problem}.`,
      remediation: [fix ?? profile.hints.install, `autopilot agents try ${name}`],
      data: { agent: name },
    });
  }

  return {
    agent: name,
    argv: [...argv],
    ...(Object.keys(override).length === 0 ? {} : { override }),
  };
}

/**
 * Finds the agent if none is named: the only one installed, or the one the user chose. Otherwise
 * refuses with the candidates.
 */
async function chooseUnnamedAgent(
  context: CommandContext,
  config: Config,
  role: string,
): Promise<InferredAgent> {
  const installed = findCandidates(await listAvailability(context, config));
  const [onlyAgent, ...otherAgents] = installed;
  if (onlyAgent !== undefined && otherAgents.length === 0) {
    return { name: onlyAgent.name, why: "it is the only one installed here" };
  }

  const chosen =
    installed.length === 0
      ? null
      : await chooseAgent(
          context,
          installed.map(({ name }) => name),
        );
  if (chosen !== null) {
    return {
      name: chosen.name,
      why: chosen.isRemembered
        ? `you chose it before (${chosenAgentPath(context.env)})`
        : "you chose it",
    };
  }

  const situation =
    installed.length === 0
      ? "none is installed here"
      : `${installed.length} are installed: ${installed.map((agent) => `${agent.name} (${toShownCommand(agent).join(" ")})`).join(", ")}`;

  return refuse("agent_unavailable", {
    message: `No agent is named for the role ${role}, and ${situation}.`,
    remediation: [
      ...installed.map(({ name }) => `--agent ${name}`),
      ...(installed.length === 0
        ? [
            agentProfiles.claude.hints.install,
            "autopilot agents shows which agents could be installed",
          ]
        : []),
      "--agent scripted:FILE plays a script",
    ],
    data: { installed: installed.map(({ name }) => name) },
  });
}

const listKnownAgents = (config: Config): readonly string[] => [
  ...extendableProfiles.filter((name) => name !== "custom"),
  ...Object.keys(config.agents ?? {}),
];
const isKnown = (name: string, config: Config): boolean => listKnownAgents(config).includes(name);

/** Reads a script's text; refuses if it does not fit its schema. */
function readScript(context: CommandContext, file: string): string {
  const path = resolve(context.cwd, file);
  let bytes: Buffer;

  try {
    bytes = readFileSync(path);
  } catch (error) {
    return refuse("script_invalid", {
      message: `The script ${file} cannot be read: ${(error as Error).message}`,
    });
  }

  const parsed = readLocated(path, bytes, Script);
  if (isRefused(parsed)) {
    refuse("script_invalid", {
      message: parsed.findings.map(({ line, message }) => `${file}:${line}: ${message}`).join("; "),
      data: { findings: parsed.findings },
    });
  }

  return bytes.toString("utf8");
}
