// resolve: the profile of a cast: the shipped one it starts from, with the user's config merged over it.

import type { AgentOverride } from "../../contracts/config.ts";
import type { Cast } from "../../contracts/event.ts";
import { didYouMean } from "../../kit/suggest.ts";
import type { AgentProfile, Metered } from "./profile.ts";
import { agentProfiles, shippedProfile } from "./table.ts";

export type Resolved = { readonly profile: AgentProfile } | { readonly problem: string };

/** What a user's own agent may be based on; the embedded one plays scripts and nothing else. */
export const extendableProfiles: readonly string[] = Object.keys(agentProfiles).filter((name) => name !== "scripted");

export function resolveProfile(cast: Pick<Cast, "agent" | "argv" | "override">): Resolved {
  const over: AgentOverride = cast.override ?? {};
  if (over.like !== undefined && !extendableProfiles.includes(over.like)) return { problem: whyNotExtendable(over.like) };
  // An agent that the config defines by its command alone is a custom one.
  const shipped = shippedProfile(over.like ?? cast.agent) ?? agentProfiles.custom;
  return { profile: overridden(shipped, cast.agent, over, cast.argv ?? over.argv ?? []) };
}

/** Why nothing can be like this. */
export function whyNotExtendable(name: string): string {
  return `found ${JSON.stringify(name)}, expected one of ${extendableProfiles.join(", ")}${didYouMean(name, extendableProfiles)}`;
}

function overridden(shipped: AgentProfile, id: string, over: AgentOverride, argv: readonly string[]): AgentProfile {
  return {
    ...shipped,
    id: shipped.found === "embedded" ? shipped.id : id,
    // The user's arguments are the whole command. Without them, the first program found is.
    found: argv.length > 0 && shipped.found === "path" ? "named" : shipped.found,
    argv,
    env: { ...shipped.env, ...over.env },
    passEnv: [...shipped.passEnv, ...(over.pass_env ?? [])],
    model: over.model ?? shipped.model,
    meters: wayMeters(shipped.meters, over),
    login: over.login ?? shipped.login,
    // A config that passes variables has taken care of the login.
    needsLogin: shipped.needsLogin && over.env === undefined && over.pass_env === undefined,
    hosts: [...new Set([...shipped.hosts, ...(over.hosts ?? [])])],
    mode: over.mode ?? shipped.mode,
    usage: over.usage ?? shipped.usage,
  };
}

/** Another key or another provider: the entry that knows the key's variable comes first, and every entry uses the user's URL. */
function wayMeters(ways: readonly Metered[], { key_env, upstream }: AgentOverride): readonly Metered[] {
  const placed = upstream === undefined ? ways : ways.map((way) => ({ ...way, upstream: withoutSlash(upstream), upstreamEnv: [] }));
  if (key_env === undefined) return placed;
  const way = placed.find(({ keyEnv }) => keyEnv.includes(key_env)) ?? placed[0];
  return way === undefined ? [] : [{ ...way, keyEnv: [key_env] }];
}

const withoutSlash = (address: string): string => address.replace(/\/+$/, "");
