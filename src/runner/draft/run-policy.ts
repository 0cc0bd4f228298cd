// run-policy: records the config's rules for checks, sandbox and landing, and notices later changes
// to them.

import type { Config } from "../../contracts/config.ts";
import type { Check } from "../../contracts/evidence.ts";
import type { Cast, Draft } from "../../contracts/event.ts";
import type { LandMinimum } from "../../contracts/objective.ts";
import type { Policy } from "../../contracts/policy.ts";
import { definedFields } from "../../core/drafts.ts";
import type { RunView } from "../../core/state.ts";
import { type ProjectPaths, findProject } from "../../project/runs/project-paths.ts";
import { configDefaults } from "../../contracts/config-defaults.ts";
import { projectConfigPath } from "../../project/config/config.ts";
import { toActor, type CommandContext } from "../../project/command-context.ts";
import { requireSettings } from "../../project/config/settings.ts";
import { detectRestores, type RestoreSetting } from "../../verify/detect/detect-restore.ts";
import type { AssignmentInputs } from "./assign-agent.ts";

/**
 * Builds the policy to be recorded with a run: the config's settings for agents, checks and
 * landing.
 */
export function buildPolicy(
  { checks, network, prices, box, on_limit, protect, land }: Config,
  restores: readonly Check[] = [],
  landFlag?: LandMinimum | "pr",
): Policy {
  return {
    check_minutes_max: checks?.timeout_minutes ?? configDefaults.checks.timeout_minutes,
    check_network: network?.checks ?? configDefaults.network.checks,
    ...(restores.length === 0 ? {} : { restores: [...restores] }),
    ...(checks?.restore === "lockfile" ? { restore_from: checks.restore } : {}),
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
      land: landFlag === "pr" ? land?.minimum : (landFlag ?? land?.minimum),
    }),
    ...(landFlag === "pr" ? { land_as: landFlag } : {}),
    ...definedFields({ land_squash: land?.squash, land_message: land?.message }),
    ...definedFields({ canary: checks?.canary, canary_minutes_max: checks?.canary_timeout }),
  };
}

/**
 * Returns the policy a run was drafted with; the defaults for a run from before policies were
 * recorded.
 */
export function readRecordedPolicy(run: RunView): Policy {
  const { policy } = run.drafted;
  return policy === undefined ? buildPolicy({}) : (structuredClone(policy) as Policy);
}

/**
 * Finds the value of `--land` that the run was drafted with: `unverified` and `pr` are no config
 * values.
 */
function findLandFlag(run: RunView): LandMinimum | "pr" | undefined {
  const { land, land_as } = readRecordedPolicy(run);
  return land_as ?? (land === "unverified" ? "unverified" : undefined);
}

/** A run that may continue under the user's current config. */
export type PolicyAdoption = {
  readonly context: CommandContext;
  readonly paths: ProjectPaths;
  readonly run: RunView;
  readonly storeScript: (text: string) => Promise<string>;
};

/**
 * Finds a config change since the run began, as an event: only noticed, or adopted if the operator
 * asks. Null if nothing changed.
 */
export async function findPolicyChange(
  adoption: PolicyAdoption,
  { isAdopted }: { readonly isAdopted: boolean },
): Promise<Draft | null> {
  const { context, paths, run } = adoption;
  const settings = requireSettings(context, paths);
  const { config_hash } = run.drafted;
  if (settings.hash === config_hash) return null;

  const change = {
    event: "policy_changed",
    path: projectConfigPath(findProject(context.cwd)?.root ?? paths.root),
    recorded: config_hash,
    found: settings.hash,
    reason_code: "config_changed",
  } as const;

  if (!isAdopted) return { ...change, adopted: false };
  const adopted = await adoptPolicy(adoption);
  const { dependencies_from } = readRecordedPolicy(run);

  return {
    ...change,
    ...adopted,
    policy: { ...adopted.policy, ...definedFields({ dependencies_from }) },
  };
}

/**
 * The commands that restore packages before a check. With `lockfile` they depend on the lock files
 * of the tree under check, so only whether the base had one is kept; otherwise the config names
 * them.
 */
function findRestores(
  setting: RestoreSetting,
  { restores, restore_from }: Policy,
): readonly Check[] | undefined {
  if (setting !== "lockfile") {
    return detectRestores({ files: new Set(), read: () => null }, setting);
  }

  return restore_from === undefined ? undefined : restores;
}

/**
 * Builds the policy of a run that continues under this user's config. The recorded one does not say
 * where packages are taken from.
 */
export async function adoptPolicy({ context, paths, run, storeScript }: PolicyAdoption) {
  const settings = requireSettings(context, paths);
  const { changed_tests } = readRecordedPolicy(run);
  return {
    adopted: true,
    actor: toActor(context),
    isolation: settings.isolation,
    policy: {
      ...buildPolicy(
        settings.config,
        findRestores(settings.config.checks?.restore ?? "copy", readRecordedPolicy(run)),
        findLandFlag(run),
      ),
      ...definedFields({ changed_tests }),
    },
    cast: await reassignAgents({ context, config: settings.config, storeScript }, run),
  } as const;
}

/**
 * Assigns the agents from here on: those the config names; else the previous ones, as the config
 * has them now. A script that was passed explicitly is kept.
 */
async function reassignAgents(
  inputs: AssignmentInputs,
  { drafted }: RunView,
): Promise<Record<string, Cast>> {
  const { assignAgentList } = await import("./assign-agents.ts"); // rarely needed, and it loads the script parser
  const cast: Record<string, Cast> = {};
  for (const [role, recorded] of Object.entries(drafted.cast)) {
    const configured = inputs.config.roles?.[role] ?? inputs.config.agent;
    const isKept =
      configured === undefined && (recorded.script !== undefined || recorded.instead !== undefined);
    cast[role] = isKept
      ? (structuredClone(recorded) as Cast)
      : await assignAgentList(inputs, role, configured ?? recorded.agent);
  }

  return cast;
}
