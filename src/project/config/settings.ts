// settings: reads the settings in force for a command from files, environment and defaults, or
// refuses.

import { configDefaults } from "../../contracts/config-defaults.ts";
import { existsSync } from "node:fs";
import type { Config } from "../../contracts/config.ts";
import { isolationLevels } from "../../contracts/isolation-levels.ts";
import { findingText, type Finding } from "../../kit/finding.ts";
import { projectConfigPath, readConfig, userConfigPath } from "./config.ts";
import type { ProjectPaths } from "../runs/project-paths.ts";
import type { CommandContext } from "../command-context.ts";
import { refuse } from "../respond.ts";

/** The settings in force for a command, without its flags. */
export type Settings = {
  readonly kind: "settings";
  readonly config: Config;
  /** From files, environment and defaults: flags are recorded with the run itself. */
  readonly hash: string;
  readonly warnings: readonly string[];
  readonly isolation: string;
  readonly dryRun: "required" | "auto";
  readonly files: readonly string[];
};

export function readSettings(
  context: CommandContext,
  root: string | null,
): Settings | { readonly kind: "invalid"; readonly findings: readonly Finding[] } {
  const result = readConfig({ env: context.env, root });
  if (result.kind === "invalid") return result;
  const { config, hash, warnings } = result;
  const files = [
    ...(root === null ? [] : [projectConfigPath(root)]),
    userConfigPath(context.env),
  ].filter((path) => existsSync(path));

  return {
    kind: "settings",
    config,
    hash,
    warnings,
    isolation: config.isolation ?? configDefaults.isolation,
    dryRun: config.dry_run ?? configDefaults.dry_run,
    files,
  };
}

/** Every error, one per line, and the files to look at: the mistake may be in the user's own. */
export const describeInvalidConfig = (findings: readonly Finding[]) => ({
  message: findings.map(findingText).join("\n"),
  remediation: [...new Set(findings.map(({ file }) => file))]
    .filter((file) => existsSync(file))
    .map((file) => `autopilot validate ${file}`),
  data: { findings },
});

/** The settings, or the broken file's lines as a refusal. */
export function requireSettings(
  context: CommandContext,
  paths: ProjectPaths,
  flags: { readonly isolation?: string | undefined } = {},
): Settings {
  const result = readSettings(context, paths.root);
  if (result.kind === "invalid") {
    return refuse("config_invalid", describeInvalidConfig(result.findings));
  }

  if (flags.isolation === undefined) return result;
  if (!isolationLevels.some((level) => level === flags.isolation)) {
    refuse("objective_schema_invalid", {
      message: `isolation: found ${flags.isolation}, expected one of ${isolationLevels.join(", ")}.`,
      data: { field: "isolation" },
    });
  }

  return { ...result, isolation: flags.isolation };
}
