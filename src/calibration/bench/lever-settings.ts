// lever-settings: decides which keys of the config a lever on a limit, an agent or a model sets.
// Invariants Y1 and on: calibration/bench/typed-lever.ts.

import { extendableProfiles } from "../../agents/profiles/resolve-profile.ts";
import type { Config } from "../../contracts/config.ts";
import { didYouMean } from "../../kit/suggest.ts";
import type { CyclePlan } from "../cycle/plan.ts";

export const configPath = ".autopilot/config.yaml";

/** Why a lever cannot be made, and what helps. */
export type Refused = { readonly problem: string; readonly remedy: string };
export const refused = (problem: string, remedy: string): Refused => ({ problem, remedy });

export type DefaultAgent = () => Promise<string | null>;

export const isEveryRole = (source: string): boolean => source === "*" || source === "all";

/** Keys of the config, each with its value. */
export type SettingPaths = readonly (readonly [readonly string[], unknown])[];
type Settings = { readonly paths: SettingPaths } | Refused;

/** The config's keys that the lever sets, with their values. */
export async function planSettings(
  { kind, source, value = "" }: CyclePlan["lever"],
  config: Config,
  defaultAgent: DefaultAgent,
): Promise<Settings> {
  if (kind === "limit") {
    const number = Number(value);
    return { paths: [[["limits", source], Number.isFinite(number) ? number : value]] };
  }

  // A role that has an agent of its own would not follow `agent`.
  const rolesWithAgent = Object.keys(config.roles ?? {});
  const keys = isEveryRole(source)
    ? [["agent"], ...rolesWithAgent.map((role) => ["roles", role])]
    : [["roles", source]];
  if (kind !== "agent") return planModelSettings({ source, value, keys }, config, defaultAgent);

  const unknownName = splitNames(value).find((name) => !isKnownAgent(name, config));
  if (unknownName === undefined) return { paths: keys.map((path) => [path, value]) };

  const suggestion = didYouMean(unknownName, listAgentNames(config));
  return refused(
    `There is no agent called ${unknownName}.${suggestion}`,
    "autopilot agents lists them",
  ); // Y1
}

/** A model's lever gives the role an agent that differs in its model alone. Y2 */
async function planModelSettings(
  { source, value, keys }: ModelLever,
  config: Config,
  defaultAgent: DefaultAgent,
): Promise<Settings> {
  const agents = await listAgentsOfRole(source, config, defaultAgent);
  const [agent = ""] = agents;
  if (agents.length > 1) {
    const problem = `A model belongs to one agent, and ${agents.join(", ")} work here.`;
    const remedy = isEveryRole(source)
      ? "name a role: model:ROLE"
      : `name one agent for it: roles.${source} in ${configPath}`;
    return refused(problem, remedy);
  }

  const override = config.agents?.[agent] ?? {};
  const profile = override.like ?? agent;
  const hasOtherSettings = Object.keys(override).some((key) => key !== "like" && key !== "model");
  if (extendableProfiles.includes(profile) && !hasOtherSettings) {
    const name = chooseFreshName(agent.replace(/-lever(-\d+)?$/, ""), config);
    const agentSetting = [["agents", name], { like: profile, model: value }] as const;
    return { paths: [agentSetting, ...keys.map((path) => [path, name] as const)] }; // Y2
  }

  // The agent's other settings, such as a key's variable, must stay where they are: a repository's
  // file could not set them.
  const isConfigured = Object.hasOwn(config.agents ?? {}, agent);
  if (isConfigured && !isUsedElsewhere(agent, source, config)) {
    return { paths: [[["agents", agent, "model"], value]] };
  }

  return refused(
    `The model of ${agent} can't be changed for ${source} alone.`,
    `name an agent of its own for it: roles.${source}`,
  );
}

type ModelLever = {
  readonly source: string;
  readonly value: string;
  readonly keys: readonly (readonly string[])[];
};

async function listAgentsOfRole(
  source: string,
  config: Config,
  defaultAgent: DefaultAgent,
): Promise<readonly string[]> {
  const assigned = isEveryRole(source)
    ? [config.agent, ...Object.values(config.roles ?? {})]
    : [config.roles?.[source] ?? config.agent];

  // Without any installed agent the lever is still made: the preflight says that the agent is
  // missing.
  const fallbackAgent = assigned.includes(undefined) ? ((await defaultAgent()) ?? "claude") : "";
  return [...new Set(assigned.flatMap((names) => splitNames(names ?? fallbackAgent)))];
}

/** Whether another role than the lever's works with the agent. */
function isUsedElsewhere(agent: string, source: string, config: Config): boolean {
  if (isEveryRole(source)) return false;

  const otherRoles = Object.entries(config.roles ?? {}).filter(([role]) => role !== source);
  const otherAgents = [config.agent, ...otherRoles.map(([, names]) => names)];
  return otherAgents.some((names) => splitNames(names ?? "").includes(agent));
}

/** `claude, codex` → two names */
function splitNames(names: string): readonly string[] {
  const parts = names.split(",").map((part) => part.trim());
  return parts.filter((part) => part !== "");
}

const listAgentNames = (config: Config): readonly string[] => [
  ...extendableProfiles.filter((name) => name !== "custom"),
  ...Object.keys(config.agents ?? {}),
];
const isKnownAgent = (name: string, config: Config): boolean =>
  name.startsWith("scripted:") || listAgentNames(config).includes(name);

/**
 * A name that the config has not used: a second lever on a model must not change the agent of
 * another role.
 */
function chooseFreshName(base: string, config: Config): string {
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? `${base}-lever` : `${base}-lever-${count}`;
    if (!Object.hasOwn(config.agents ?? {}, name)) return name;
  }
}
