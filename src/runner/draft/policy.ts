// policy: records the config's rules for checks, sandbox and landing, and notices later changes to them.

import type { Config } from "../../contracts/config.ts";
import type { Check } from "../../contracts/evidence.ts";
import type { Cast, Draft } from "../../contracts/event.ts";
import type { LandMinimum } from "../../contracts/objective.ts";
import type { Policy } from "../../contracts/policy.ts";
import { definedFields } from "../../core/drafts.ts";
import type { RunView } from "../../core/state.ts";
import { type ProjectPaths, findProject } from "../../project/runs/project-paths.ts";
import { projectConfigPath } from "../../project/config/config.ts";
import { actorOf, type CommandContext } from "../../project/command-context.ts";
import { settingsOf } from "../../project/config/settings.ts";

const checkMinutesMax = 15;

/** The config settings for agents and checks that are recorded with the run. */
export function policyOf(
  { checks, network, prices, box, on_limit, protect, land }: Config,
  restores: readonly Check[] = [],
  landGiven?: LandMinimum | "pr",
): Policy {
  return {
    check_minutes_max: checks?.timeout_minutes ?? checkMinutesMax,
    check_network: network?.checks ?? false,
    ...(restores.length === 0 ? {} : { restores: [...restores] }),
    ...definedFields({
      check_env: checks?.env,
      dependencies: checks?.dependencies,
      repeat: checks?.repeat,
      quarantine: checks?.quarantine,
      protect,
    }),
    ...definedFields({
      agent_hosts: network?.agents,
      prices,
      box,
      on_limit,
      land: landGiven === "pr" ? land?.minimum : (landGiven ?? land?.minimum),
    }),
    ...(landGiven === "pr" ? { land_as: landGiven } : {}),
    ...definedFields({ land_squash: land?.squash, land_message: land?.message }),
    ...definedFields({ canary: checks?.canary, canary_minutes_max: checks?.canary_timeout }),
  };
}

/** The policy a run was drafted with; the defaults for a run from before it was recorded. */
export function recordedPolicy(run: RunView): Policy {
  const { policy } = run.drafted;
  return policy === undefined ? policyOf({}) : (structuredClone(policy) as Policy);
}

/** `unverified` and `pr` are not config values: a flag set them for this run. */
function findLandFlag(run: RunView): LandMinimum | "pr" | undefined {
  const { land, land_as } = recordedPolicy(run);
  return land_as ?? (land === "unverified" ? "unverified" : undefined);
}

/** A config change since the run began, as an event: only noticed, or adopted if the operator asks. Null if nothing changed. */
export async function policyChange(
  context: CommandContext,
  paths: ProjectPaths,
  run: RunView,
  adopts: boolean,
  keep: (text: string) => Promise<string>,
): Promise<Draft | null> {
  const settings = settingsOf(context, paths);
  const { config_hash } = run.drafted;
  if (settings.hash === config_hash) return null;
  const noticed = {
    event: "policy_changed",
    path: projectConfigPath(findProject(context.cwd)?.root ?? paths.root),
    recorded: config_hash,
    found: settings.hash,
    reason_code: "config_changed",
  } as const;
  if (!adopts) return { ...noticed, adopted: false };
  const adopted = await adoptedPolicy(context, paths, run, keep);
  const { dependencies_from } = recordedPolicy(run);
  return { ...noticed, ...adopted, policy: { ...adopted.policy, ...definedFields({ dependencies_from }) } };
}

/** The policy of a run that continues under this user's config. A foreign one does not say where packages are taken from. */
export async function adoptedPolicy(context: CommandContext, paths: ProjectPaths, run: RunView, keep: (text: string) => Promise<string>) {
  const settings = settingsOf(context, paths);
  return {
    adopted: true,
    actor: actorOf(context),
    isolation: settings.isolation,
    policy: policyOf(settings.config, recordedPolicy(run).restores, findLandFlag(run)),
    cast: await recast(context, run, settings.config, keep),
  } as const;
}

/**
 * The agents from here on: those the config names; else the previous ones, as the config has them now. A script that was passed explicitly
 * is kept.
 */
async function recast(
  context: CommandContext,
  { drafted }: RunView,
  config: Config,
  keep: (text: string) => Promise<string>,
): Promise<Record<string, Cast>> {
  const { castInOrder } = await import("./assign-agents.ts"); // rarely needed, and it loads the script parser
  const cast: Record<string, Cast> = {};
  for (const [role, recorded] of Object.entries(drafted.cast)) {
    const named = config.roles?.[role] ?? config.agent;
    const isKept = named === undefined && (recorded.script !== undefined || recorded.instead !== undefined);
    cast[role] = isKept ? (structuredClone(recorded) as Cast) : await castInOrder(context, role, named ?? recorded.agent, config, keep);
  }
  return cast;
}
