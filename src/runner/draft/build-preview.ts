// build-preview: builds the preview of a draft: steps, agents, scope, checks, limits, isolation and
// estimate.

import { shellWord } from "../../kit/shell-word.ts";
import { resolveProfile } from "../../agents/profiles/resolve-profile.ts";
import { gradeLevel } from "../../contracts/isolation-levels.ts";
import type { Policy } from "../../contracts/policy.ts";
import { isSecretFromAgent } from "../../contracts/secret-checks.ts";
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
  readonly verbosePage: readonly string[];
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
  const playbook = await loadPlaybook(drafted.flow.playbook);
  const playbookPreview = await playbook?.preview?.({ context, paths, view: run });
  const policy = readRecordedPolicy(run);
  const scope = await matchScope(paths.root, drafted.base.commit, drafted.objective.scope);
  const missing = await findToolsMissing(context, paths, run);

  const data = buildPreviewView({
    objective: structuredClone(drafted.objective) as never,
    inferredDefaults: drafted.inferred_defaults ?? [],
    flow: structuredClone(drafted.flow) as never,
    options: drafted.options,
    cast: structuredClone(drafted.cast) as never,
    commands: listAgentCommands(drafted.cast),
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

  const shortBase = drafted.base.commit.slice(0, 10);
  const warnings = [
    ...(scope?.unmatched ?? []).map(
      (glob) =>
        `The scope ${glob} matches no file at ${shortBase}. Check it for a slip, unless the run is to make such files.`,
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
    verbosePage: [...page, ...previewDetails(data)],
    warnings,
    dryRun: settings.dryRun,
  };
}

/** The tools that the run's checks need and this machine has not. A hold-out stays secret. */
async function findToolsMissing(
  context: CommandContext,
  paths: ProjectPaths,
  run: RunView,
): ReturnType<typeof findMissingTools> {
  const { drafted } = run;
  const shownChecks = drafted.checks.filter((check) => !isSecretFromAgent(check));
  const policy = readRecordedPolicy(run);

  return findMissingTools(
    shownChecks.map(({ command }) => command),
    {
      root: policy.dependencies_from ?? paths.root,
      tree: await loadTree(paths.root, drafted.base.commit),
      env: context.env,
      isRestored: (policy.restores ?? []).length > 0,
    },
  );
}

type Cast = RunView["drafted"]["cast"];

/** The command line of each agent, and of those that take its place. */
function listAgentCommands(cast: Cast): Readonly<Record<string, string>> {
  const commands: Record<string, string> = {};
  const agents = Object.values(cast).flatMap((agent) => [agent, ...(agent.instead ?? [])]);

  for (const { agent, argv, override } of agents) {
    const resolved = resolveProfile({
      agent,
      ...(argv === undefined ? {} : { argv: [...argv] }),
      ...(override === undefined ? {} : { override: structuredClone(override) as never }),
    });
    if ("problem" in resolved || argv === undefined) continue;

    const words = toShownCommand({ profile: resolved.profile, argv });
    commands[agent] = words.map(shellWord).join(" ");
  }

  return commands;
}

/**
 * Lists the variables the config sets for checks, and those of the user's shell that affect tools.
 */
function listCheckVariables(
  { env }: CommandContext,
  { check_env = {} }: Policy,
): readonly CheckVariable[] {
  const variables: CheckVariable[] = Object.entries(check_env).map(([name, value]) => ({
    name,
    value,
    from: "config",
  }));

  for (const name of ["CI", "NO_COLOR", "FORCE_COLOR", "TERM"]) {
    const value = env[name];
    const isSet = check_env[name] !== undefined;
    if (!isSet && value !== undefined) variables.push({ name, value, from: "shell" });
  }

  return variables;
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
    const range = estimate[dimension];
    const limit = limits[dimension];
    if (range === null || limit === undefined || range.p90 <= limit) return [];

    const format = (amount: number): string => formatAmount(dimension, amount);
    const likely = range.p50 > limit ? "will probably" : "may";
    return [
      `The estimate of ${format(range.p50)} to ${format(range.p90)} exceeds the limit of ${format(limit)}: the run ${likely} pause on the way. Raise it with --max-budget.`,
    ];
  });
}
