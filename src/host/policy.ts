import type { Config } from "../contracts/config.ts";
import type { Draft, Policy } from "../contracts/event.ts";
import type { RunView } from "../core/state.ts";
import { type Home, findHome } from "./home.ts";
import { projectConfigPath } from "./config.ts";
import type { Place } from "./place.ts";
import { settingsOf } from "./settings.ts";

const checkMinutesMax = 15;

/** What of the config governs checks, to be recorded with the run. */
export function policyOf({ checks, network }: Config): Policy {
  const dependencies = checks?.dependencies;
  return {
    check_minutes_max: checks?.timeout_minutes ?? checkMinutesMax,
    check_network: network?.checks ?? false,
    ...(dependencies === undefined ? {} : { dependencies }),
  };
}

/** The policy a run was drafted with; one from before it was recorded has the defaults. */
export function recordedPolicy(run: RunView): Policy {
  const { policy } = run.drafted;
  if (policy === undefined) return policyOf({});
  const { dependencies } = policy;
  return {
    check_minutes_max: policy.check_minutes_max,
    check_network: policy.check_network,
    ...(dependencies === undefined ? {} : { dependencies: [...dependencies] }),
  };
}

/** A config that changed since the run began, as an event: only noticed, or adopted where the operator asks for it. Null where nothing changed. */
export async function policyChange(
  place: Place,
  home: Home,
  run: RunView,
  adopts: boolean,
  keep: (text: string) => Promise<string>,
): Promise<Draft | null> {
  const settings = settingsOf(place, home);
  const { config_hash, flow } = run.drafted;
  if (settings.hash === config_hash) return null;
  const noticed = {
    event: "policy_changed",
    path: projectConfigPath(findHome(place.cwd)?.root ?? home.root),
    recorded: config_hash,
    found: settings.hash,
    reason_code: "config_changed",
  } as const;
  if (!adopts) return { ...noticed, adopted: false };
  const { castOf } = await import("./cast.ts"); // rarely needed, and it brings the parser of scripts
  const cast =
    settings.config.agent === undefined && settings.config.roles === undefined
      ? {}
      : { cast: await castOf(place, undefined, settings.config, structuredClone(flow) as never, keep) };
  return {
    ...noticed,
    adopted: true,
    actor: `operator:${place.user}`,
    isolation: settings.isolation,
    policy: policyOf(settings.config),
    ...cast,
  };
}
