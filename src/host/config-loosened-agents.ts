// config-loosened-agents: what the project's config may not say of agents, their box and their prices. Which program gets a login, where
// a key is sent, what an agent may reach and what it costs are the user's to say.

import type { AgentProfile, Mode } from "../agents/profiles/profile.ts";
import { shippedProfile } from "../agents/profiles/table.ts";
import type { AgentOverride, BoxLimits, Config, ModelPrice } from "../contracts/config.ts";
import { type ListPrice, priceFrom } from "../meter/prices.ts";
import { defaultLimits } from "../workspace/limits.ts";

export type Ignored = { readonly key: string; readonly why: string };

const usersOwn = {
  env: "it would set variables that your agents obey",
  pass_env: "it would hand your environment on",
  login: "it would decide which of your logins is used",
  key_env: "it would choose which of your keys is used",
  upstream: "it would choose where your key is sent",
  hosts: "it would let the agent reach further hosts",
} as const satisfies Partial<Record<keyof AgentOverride, string>>;

const modes: readonly Mode[] = ["read", "edit", "full"];

export function agentsWithoutLoosening(project: Config, own: Config, kept: Config): readonly Ignored[] {
  if (project.agents === undefined) return [];
  const ignored: Ignored[] = [];
  kept.agents = {};
  for (const [name, said] of Object.entries(project.agents)) {
    const mine = own.agents !== undefined && Object.hasOwn(own.agents, name) ? own.agents[name] : undefined;
    const profile = shippedProfile(mine?.like ?? said.like ?? name);
    const rest: AgentOverride = { ...said };
    const drop = (key: keyof AgentOverride, why: string): void => {
      ignored.push({ key: `agents.${name}.${key}`, why });
      delete rest[key];
    };
    for (const [key, why] of Object.entries(usersOwn) as [keyof typeof usersOwn, string][]) if (said[key] !== undefined) drop(key, why);
    if (said.argv !== undefined && mayBeLoggedIn(profile, mine)) drop("argv", "it would start another program with your login");
    // The user's own command goes with the profile they gave it.
    if (said.like !== undefined && mine !== undefined && mine.like !== said.like) drop("like", "it would treat your own agent as another");
    if (said.mode !== undefined && modes.indexOf(said.mode) > modes.indexOf(mine?.mode ?? mostOf(profile)))
      drop("mode", "it would let the agent do more without asking");
    kept.agents[name] = rest;
  }
  return ignored;
}

/** A login, a key or variables of the user's go to whatever is started under this name. */
const mayBeLoggedIn = (profile: AgentProfile | null, mine: AgentOverride | undefined): boolean =>
  (profile !== null && (profile.own !== null || profile.meters.length > 0)) ||
  [mine?.argv, mine?.env, mine?.pass_env].some((value) => value !== undefined);

const mostOf = (profile: AgentProfile | null): Mode => (profile?.mode === "read" ? "read" : "edit");

export function boxWithoutLoosening(project: Config, own: Config, kept: Config): readonly Ignored[] {
  const { box } = project;
  if (box === undefined) return [];
  const most: Record<keyof BoxLimits, number> = {
    processes: own.box?.processes ?? defaultLimits.processesMax,
    memory_mb: own.box?.memory_mb ?? defaultLimits.memoryBytesMax / 1024 ** 2,
    disk_mb: own.box?.disk_mb ?? defaultLimits.diskBytesMax / 1024 ** 2,
  };
  const raised = (["processes", "memory_mb", "disk_mb"] as const).filter((name) => (box[name] ?? 0) > most[name]);
  const rest: BoxLimits = { ...box };
  for (const name of raised) delete rest[name];
  kept.box = rest;
  return raised.map((name) => ({ key: `box.${name}`, why: "it would let processes take more of your machine" }));
}

export function pricesWithoutLoosening(project: Config, own: Config, kept: Config): readonly Ignored[] {
  if (project.prices === undefined) return [];
  const known = priceFrom(own.prices ?? {});
  const lowered = Object.entries(project.prices).filter(([model, price]) => isLower(price, known(model)));
  kept.prices = Object.fromEntries(Object.entries(project.prices).filter(([model]) => !lowered.some(([name]) => name === model)));
  return lowered.map(([model]) => ({ key: `prices.${model}`, why: "it would make a model seem cheaper than it is known to be" }));
}

/** A price nobody knows is taken for any: a budget in dollars rather stops than counts too little. */
function isLower(price: ModelPrice, known: ListPrice | null): boolean {
  if (known === null || known.long !== undefined) return true;
  const cached = (one: ModelPrice): number => one.cached ?? one.input;
  const written = (one: ModelPrice): number => one.cache_write ?? one.input;
  return price.input < known.input || price.output < known.output || cached(price) < cached(known) || written(price) < written(known);
}
