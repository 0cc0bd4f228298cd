// config-directions-agents: what a repository's config file may say about agents and prices. Only the user may say which program gets a
// login, where a key is sent, and what an agent may reach.

import type { AgentProfile, Mode } from "../../agents/profiles/profile.ts";
import { shippedProfile } from "../../agents/profiles/table.ts";
import type { AgentOverride, Config, ModelPrice } from "../../contracts/config.ts";
import { type ListPrice, priceFrom } from "../../meter/prices.ts";
import { neutral, type Node, type RuleContext, tighten, userOnly } from "./config-rule.ts";

const modes: readonly Mode[] = ["read", "edit", "full"];

export const agentDirections: Node<AgentOverride> = {
  // The user's own command goes with the profile they gave it.
  like: tighten((text, own, context) =>
    mineOf(context) !== undefined && own !== text ? "it would treat your own agent as another" : null,
  ),
  argv: tighten((_said, _own, context) =>
    mayBeLoggedIn(profileOf(context), mineOf(context)) ? "it would start another program with your login" : null,
  ),
  env: userOnly("it would set variables that your agents obey"),
  pass_env: userOnly("it would hand your environment on"),
  model: neutral,
  login: userOnly("it would decide which of your logins is used"),
  key_env: userOnly("it would choose which of your keys is used"),
  upstream: userOnly("it would choose where your key is sent"),
  hosts: userOnly("it would let the agent reach further hosts"),
  max_parallel: userOnly("it would start more of your agent's sessions at once"),
  mode: tighten((said, own, context) =>
    modes.indexOf(said) > modes.indexOf(own ?? mostOf(profileOf(context))) ? "it would let the agent do more without asking" : null,
  ),
  usage: tighten((_said, _own, context) =>
    profileOf(context) !== null || mineOf(context) !== undefined ? "it would change how what your agent used is counted" : null,
  ),
};

function mineOf({ name, own }: RuleContext): AgentOverride | undefined {
  return own.agents !== undefined && Object.hasOwn(own.agents, name) ? own.agents[name] : undefined;
}

const profileOf = (context: RuleContext): AgentProfile | null =>
  shippedProfile(mineOf(context)?.like ?? (context.beside as AgentOverride).like ?? context.name);

/** A login, a key or variables of the user's go to whatever program starts under this name. */
const mayBeLoggedIn = (profile: AgentProfile | null, mine: AgentOverride | undefined): boolean =>
  (profile !== null && (profile.ownLogin !== null || profile.meters.length > 0)) ||
  [mine?.argv, mine?.env, mine?.pass_env].some((value) => value !== undefined);

const mostOf = (profile: AgentProfile | null): Mode => (profile?.mode === "read" ? "read" : "edit");

/** Why a repository's price does not count; null if it is at least the model's known price. */
export function whyCheaper(model: string, price: ModelPrice, own: Config): string | null {
  return isLower(price, priceFrom(own.prices ?? {})(model)) ? "it would make a model seem cheaper than it is known to be" : null;
}

/** For a model without a known price any price counts: a budget in dollars would rather stop than count too little. */
function isLower(price: ModelPrice, knownListPrice: ListPrice | null): boolean {
  if (knownListPrice === null || knownListPrice.long !== undefined) return true;
  const cached = (modelPrice: ModelPrice): number => modelPrice.cached ?? modelPrice.input;
  const written = (modelPrice: ModelPrice): number => modelPrice.cache_write ?? modelPrice.input;
  return (
    price.input < knownListPrice.input ||
    price.output < knownListPrice.output ||
    cached(price) < cached(knownListPrice) ||
    written(price) < written(knownListPrice)
  );
}
