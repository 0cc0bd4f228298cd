// resolve-profile: finds the profile for a cast (the agent chosen for a role): the shipped one,
// with the user's config merged over it.

import type { AgentOverride } from "../../contracts/config.ts";
import type { Cast } from "../../contracts/event.ts";
import { didYouMean } from "../../kit/suggest.ts";
import type { AgentProfile, MeteredAccess } from "./profile.ts";
import { agentProfiles, findShippedProfile } from "./shipped-profiles.ts";

export type ResolvedProfile = { readonly profile: AgentProfile } | { readonly problem: string };

/**
 * The profiles that a user's own agent may be based on (`like`); the embedded agent plays scripts
 * and nothing else.
 */
export const extendableProfiles: readonly string[] = Object.keys(agentProfiles).filter(
  (name) => name !== "scripted",
);

export function resolveProfile(cast: Pick<Cast, "agent" | "argv" | "override">): ResolvedProfile {
  const override: AgentOverride = cast.override ?? {};
  if (override.like !== undefined && !extendableProfiles.includes(override.like)) {
    return { problem: explainNotExtendable(override.like) };
  }

  // An agent that the config defines by its command alone is a custom one.
  const shipped = findShippedProfile(override.like ?? cast.agent) ?? agentProfiles.custom;
  return {
    profile: applyOverride(shipped, cast.agent, override, cast.argv ?? override.argv ?? []),
  };
}

/** Why a user's agent can't be based on this. */
export function explainNotExtendable(name: string): string {
  return `found ${JSON.stringify(name)}, expected one of ${extendableProfiles.join(", ")}${didYouMean(name, extendableProfiles)}`;
}

function applyOverride(
  shipped: AgentProfile,
  id: string,
  override: AgentOverride,
  argv: readonly string[],
): AgentProfile {
  return {
    ...shipped,
    id: shipped.found === "embedded" ? shipped.id : id,
    // The user's arguments are the whole command. Without them, the first program found is.
    found: argv.length > 0 && shipped.found === "path" ? "named" : shipped.found,
    argv,
    env: { ...shipped.env, ...override.env },
    passEnv: [...shipped.passEnv, ...(override.pass_env ?? [])],
    model: override.model ?? shipped.model,
    meters: overrideMeters(shipped.meters, override),
    login: override.login ?? shipped.login,
    // A config that passes variables has taken care of the login.
    needsLogin: shipped.needsLogin && override.env === undefined && override.pass_env === undefined,
    hosts: [...new Set([...shipped.hosts, ...(override.hosts ?? [])])],
    mode: override.mode ?? shipped.mode,
    usage: override.usage ?? shipped.usage,
  };
}

/**
 * Another key or another provider: only the entry that knows the key's variable is left, else the
 * first; and it uses the user's URL.
 */
function overrideMeters(
  ways: readonly MeteredAccess[],
  { key_env, upstream }: AgentOverride,
): readonly MeteredAccess[] {
  const metersWithUpstream =
    upstream === undefined
      ? ways
      : ways.map((way) => ({ ...way, upstream: stripTrailingSlashes(upstream), upstreamEnv: [] }));
  if (key_env === undefined) return metersWithUpstream;
  const way =
    metersWithUpstream.find(({ keyEnv }) => keyEnv.includes(key_env)) ?? metersWithUpstream[0];

  return way === undefined ? [] : [{ ...way, keyEnv: [key_env] }];
}

const stripTrailingSlashes = (address: string): string => address.replace(/\/+$/, "");
