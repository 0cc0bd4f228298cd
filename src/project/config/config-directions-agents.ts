// config-directions-agents: what a repository's config file may say about agents and prices. Only
// the user may say which program gets a login, where a key is sent, and what an agent may reach.

import type { AgentProfile, PermissionMode } from "../../agents/profiles/profile.ts";
import { findShippedProfile } from "../../agents/profiles/shipped-profiles.ts";
import type { AgentOverride, Config, ModelPrice } from "../../contracts/config.ts";
import { type ListPrice, createPriceLookup } from "../../meter/prices.ts";
import { neutral, type DirectionNode, type RuleContext, tighten, userOnly } from "./config-rule.ts";

const modes: readonly PermissionMode[] = ["read", "edit", "full"];

export const agentDirections: DirectionNode<AgentOverride> = {
  // The user's own command goes with the profile they gave it.
  like: tighten((value, userValue, context) =>
    findUserOverride(context) !== undefined && userValue !== value
      ? "it would treat your own agent as another"
      : null,
  ),
  argv: tighten((_value, _userValue, context) =>
    getsLogin(findProfile(context), findUserOverride(context))
      ? "it would start another program with your login"
      : null,
  ),
  env: userOnly("it would set variables that your agents obey"),
  pass_env: userOnly("it would hand your environment on"),
  model: neutral,
  login: userOnly("it would decide which of your logins is used"),
  key_env: userOnly("it would choose which of your keys is used"),
  upstream: userOnly("it would choose where your key is sent"),
  hosts: userOnly("it would let the agent reach further hosts"),
  max_parallel: userOnly("it would start more of your agent's sessions at once"),
  mode: tighten((value, userValue, context) =>
    modes.indexOf(value) > modes.indexOf(userValue ?? findDefaultMode(findProfile(context)))
      ? "it would let the agent do more without asking"
      : null,
  ),
  usage: tighten((_value, _userValue, context) =>
    findProfile(context) !== null || findUserOverride(context) !== undefined
      ? "it would change how what your agent used is counted"
      : null,
  ),
};

function findUserOverride({
  name,
  userConfig: { agents },
}: RuleContext): AgentOverride | undefined {
  return agents !== undefined && Object.hasOwn(agents, name) ? agents[name] : undefined;
}

const findProfile = (context: RuleContext): AgentProfile | null =>
  findShippedProfile(
    findUserOverride(context)?.like ?? (context.siblings as AgentOverride).like ?? context.name,
  );

/**
 * Whether a login, a key or variables of the user's go to whatever program starts under this name.
 */
const getsLogin = (profile: AgentProfile | null, override: AgentOverride | undefined): boolean =>
  (profile !== null && (profile.ownLogin !== null || profile.meters.length > 0)) ||
  [override?.argv, override?.env, override?.pass_env].some((value) => value !== undefined);

const findDefaultMode = (profile: AgentProfile | null): PermissionMode =>
  profile?.mode === "read" ? "read" : "edit";

/** Why a repository's price does not count; null if it is at least the model's known price. */
export function whyPriceRefused(
  model: string,
  price: ModelPrice,
  userConfig: Config,
): string | null {
  return mayBeLower(price, createPriceLookup(userConfig.prices ?? {})(model))
    ? "it would make a model seem cheaper than it is known to be"
    : null;
}

/**
 * Whether a price is lower than the known one, or might be: without a known price, or if that
 * depends on the length of the context. A budget in dollars should rather stop too early than count
 * too little.
 */
function mayBeLower(price: ModelPrice, listPrice: ListPrice | null): boolean {
  if (listPrice === null || listPrice.long !== undefined) return true;
  const cached = (modelPrice: ModelPrice): number => modelPrice.cached ?? modelPrice.input;
  const written = (modelPrice: ModelPrice): number => modelPrice.cache_write ?? modelPrice.input;

  return (
    price.input < listPrice.input ||
    price.output < listPrice.output ||
    cached(price) < cached(listPrice) ||
    written(price) < written(listPrice)
  );
}
