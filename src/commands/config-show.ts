// config-show: shows every setting in force with the file and line it came from; variables that are
// named like secrets are masked.

import type { CommandResponse } from "../contracts/command-response.ts";
import type { NotifyHook } from "../contracts/config.ts";
import { readConfig, type ValueOrigin } from "../project/config/config.ts";
import { describeInvalidConfig } from "../project/config/settings.ts";
import { describeHook } from "../project/notify/hooks.ts";
import { findProject } from "../project/runs/project-paths.ts";
import type { CommandContext } from "../project/command-context.ts";
import { respond } from "../project/respond.ts";

/** Shows every setting in force, and where it came from. */
export function showConfig(context: CommandContext, _input: object): Promise<CommandResponse> {
  const loadedConfig = readConfig({
    env: context.env,
    root: findProject(context.cwd)?.root ?? null,
  });
  if (loadedConfig.kind === "invalid") {
    return Promise.resolve(respond("config_invalid", describeInvalidConfig(loadedConfig.findings)));
  }

  const settings = flattenSettings(loadedConfig.config)
    .map(({ key, value }) => ({
      key,
      value,
      ...(loadedConfig.origins[key] ??
        loadedConfig.origins[key.split(".")[0] ?? ""] ?? { from: "default" as const }),
    }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const page = [
    ...settings.map(
      (setting) =>
        `${setting.key.padEnd(32)} ${JSON.stringify(setting.value)}  (${describeOrigin(setting)})`,
    ),
    "",
    "What isn't listed is decided for each run, and its preview shows it. Every key: autopilot schema config",
  ];

  const message = `${settings.length} settings.`;
  return Promise.resolve(
    respond("ok", {
      message,
      warnings: loadedConfig.warnings,
      page,
      data: { settings, config_hash: loadedConfig.hash },
    }),
  );
}

function describeOrigin({ from, file, line }: ValueOrigin): string {
  return file === undefined ? from : `${from}: ${file}:${line ?? 1}`;
}

type Leaf = { readonly key: string; readonly value: unknown };

/**
 * Lists every value under its full key, such as `checks.detect`. A variable for an agent or a check
 * that is named like a secret is masked.
 */
function flattenSettings(value: unknown, path: readonly string[] = []): readonly Leaf[] {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return Object.entries(value).flatMap(([name, field]) =>
      field === undefined ? [] : flattenSettings(field, [...path, name]),
    );
  }

  if (path[0] === "notify" && Array.isArray(value)) {
    return (value as readonly NotifyHook[]).map((hook, index) => ({
      key: `notify.${hook.name ?? index + 1}`,
      value: describeHook(hook),
    }));
  }

  const isVariable = path.at(-2) === "env" && (path[0] === "agents" || path[0] === "checks");
  const isSecret = isVariable && secretNamePattern.test(path.at(-1) ?? "");
  return [{ key: path.join("."), value: isSecret ? "(not shown)" : value }];
}

/** Such as `ANTHROPIC_API_KEY` or `DB_PASSWORD`. */
const secretNamePattern = /key|token|secret|passw|auth|credential/i;
