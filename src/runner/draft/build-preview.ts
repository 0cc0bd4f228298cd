// build-preview: builds the preview of a draft: steps, agents, scope, checks, limits, isolation and
// estimate.

import { shellWord } from "../../kit/shell-word.ts";
import { resolveProfile } from "../../agents/profiles/resolve-profile.ts";
import { gradeLevel } from "../../contracts/isolation-order.ts";
import type { Policy } from "../../contracts/policy.ts";
import type { RunView } from "../../core/state.ts";
import {
  type CheckVariable,
  describeMissingTool,
  buildPreview as buildPreviewView,
  previewDetails,
  previewPage,
  type PreviewView,
} from "../../views/preview.ts";
import { formatAmount } from "../../views/wording.ts";
import { toShownCommand } from "./agent-availability.ts";
import { loadTree } from "./collect-checks.ts";
import { estimateUsage } from "./estimate-usage.ts";
import { loadPlaybook } from "../../playbooks/registry/table.ts";
import type { ProjectPaths } from "../../project/runs/project-paths.ts";
import { findMissingTools } from "./missing-tools.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { readRecordedPolicy } from "./run-policy.ts";
import { countMatches } from "./count-matches.ts";
import { requireSettings } from "../../project/config/settings.ts";
import { listDisplayPaths } from "../../workspace/git/tree-list.ts";
import { tryIsolation } from "./try-isolation.ts";

export type Preview = {
  readonly data: PreviewView;
  readonly page: readonly string[];
  readonly whole: readonly string[];
  readonly warnings: readonly string[];
  readonly dryRun: "required" | "auto";
};

/** Builds the preview each time it is shown: the repository may have changed since the draft. */
export async function buildPreview(
  context: CommandContext,
  paths: ProjectPaths,
  run: RunView,
): Promise<Preview> {
  const { drafted } = run;
  const settings = requireSettings(context, paths);
  const isolation = await tryIsolation(drafted.isolation, paths);
  const playbookPreview = await (
    await loadPlaybook(drafted.flow.playbook)
  )?.preview?.({ context, paths, view: run });

  const policy = readRecordedPolicy(run);
  const scope = await matchScope(paths.root, drafted.base.commit, drafted.objective.scope);

  const missing = await findMissingTools(
    drafted.checks.filter(({ kind }) => kind !== "holdout").map(({ command }) => command),
    {
      root: policy.dependencies_from ?? paths.root,
      tree: await loadTree(paths.root, drafted.base.commit),
      env: context.env,
      isRestored: (policy.restores ?? []).length > 0,
    },
  );

  const data = buildPreviewView({
    objective: structuredClone(drafted.objective) as never,
    inferredDefaults: drafted.inferred_defaults ?? [],
    flow: structuredClone(drafted.flow) as never,
    options: drafted.options,
    cast: structuredClone(drafted.cast) as never,
    commands: listAgentCommands(
      Object.values(drafted.cast).flatMap((agent) => [agent, ...(agent.instead ?? [])]),
    ),
    scopeFiles: scope?.files ?? null,
    checks: structuredClone(drafted.checks),
    checkEnv: listCheckVariables(context, policy),
    missing,
    budget: structuredClone(drafted.budget),
    limits: drafted.limits,
    isolation,
    estimate: playbookPreview?.estimate ?? (await estimateUsage(paths, run)),
    ...(playbookPreview === undefined ? {} : { wanted: playbookPreview.summary }),
    base: drafted.base,
  });

  const warnings = [
    ...(scope?.unmatched ?? []).map(
      (glob) =>
        `The scope ${glob} matches no file at ${drafted.base.commit.slice(0, 10)}. Check it for a slip, unless the run is to make such files.`,
    ),
    ...missing.map((missingTool) => `Missing: ${describeMissingTool(missingTool)}`),
    ...listLimitWarnings(data.estimate, drafted.limits.run),
  ];

  if (isolation.not_enforced.length > 0 && gradeLevel(isolation.level) !== "strong") {
    warnings.push(
      `Sandbox ${isolation.level} doesn't block: ${isolation.not_enforced.join("; ")}.`,
    );
  }

  const page = previewPage(data, drafted.ack, warnings);
  return {
    data,
    page,
    whole: [...page, ...previewDetails(data)],
    warnings,
    dryRun: settings.dryRun,
  };
}

/** Each agent's command line. */
function listAgentCommands(
  cast: readonly RunView["drafted"]["cast"][string][],
): Readonly<Record<string, string>> {
  const commands = cast.flatMap(({ agent, argv, override }) => {
    const resolved = resolveProfile({
      agent,
      ...(argv === undefined ? {} : { argv: [...argv] }),
      ...(override === undefined ? {} : { override: structuredClone(override) as never }),
    });
    if ("problem" in resolved || argv === undefined) return [];
    return [
      [
        agent,
        toShownCommand({ profile: resolved.profile, argv }).map(shellWord).join(" "),
      ] as const,
    ];
  });
  return Object.fromEntries(commands);
}

/**
 * Lists the variables the config sets for checks, and those of the user's shell that affect tools.
 */
function listCheckVariables(
  { env }: CommandContext,
  { check_env = {} }: Policy,
): readonly CheckVariable[] {
  const shell = ["CI", "NO_COLOR", "FORCE_COLOR", "TERM"].filter(
    (name) => check_env[name] === undefined,
  );

  return [
    ...Object.entries(check_env).map(([name, value]) => ({ name, value, from: "config" as const })),
    ...shell.flatMap((name) =>
      env[name] === undefined ? [] : [{ name, value: env[name], from: "shell" as const }],
    ),
  ];
}

/**
 * Counts the files that the scope matches at a commit, and finds patterns that match none; null if
 * the commit cannot be read.
 */
async function matchScope(
  root: string,
  commit: string,
  scope: readonly string[],
): Promise<{ readonly files: number; readonly unmatched: readonly string[] } | null> {
  const names = await listDisplayPaths({ cwd: root }, commit).catch(() => null);
  return names === null ? null : countMatches(names, scope);
}

/** Warns before the start that the run will probably exceed its limits. */
export function listLimitWarnings(
  estimate: PreviewView["estimate"],
  limits: Readonly<Record<string, number>>,
): readonly string[] {
  return (["tokens", "minutes", "usd"] as const).flatMap((dimension) => {
    const [range, limit] = [estimate[dimension], limits[dimension]];
    if (range === null || limit === undefined || range.p90 <= limit) return [];
    const likely = range.p50 > limit ? "will probably" : "may";

    return [
      `The estimate of ${formatAmount(dimension, range.p50)} to ${formatAmount(dimension, range.p90)} exceeds the limit of ${formatAmount(dimension, limit)}: the run ${likely} pause on the way. Raise it with --max-budget.`,
    ];
  });
}
