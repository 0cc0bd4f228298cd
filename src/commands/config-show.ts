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

  const { config, origins, warnings, hash } = loadedConfig;
  const settings = flattenSettings(config)
    .map(({ key, value }) => ({ key, value, ...findOrigin(key, origins) }))
    .sort((left, right) => (left.key < right.key ? -1 : 1));

  const response = respond("ok", {
    message: `${settings.length} settings.`,
    warnings,
    page: [...settings.map(describeSetting), "", pageFooter],
    data: { settings, config_hash: hash },
  });
  return Promise.resolve(response);
}

const pageFooter =
  "What isn't listed is decided for each run, and its preview shows it. Every key: autopilot schema config";

type ShownSetting = Setting & ValueOrigin;

/** Where a setting came from, or the section it is in. */
function findOrigin(key: string, origins: Readonly<Record<string, ValueOrigin>>): ValueOrigin {
  const section = key.split(".")[0] ?? "";
  return origins[key] ?? origins[section] ?? { from: "default" };
}

function describeSetting(setting: ShownSetting): string {
  const value = JSON.stringify(setting.value);
  return `${setting.key.padEnd(keyChars)} ${value}  (${describeOrigin(setting)})`;
}

const keyChars = 32;

function describeOrigin({ from, file, line }: ValueOrigin): string {
  return file === undefined ? from : `${from}: ${file}:${line ?? 1}`;
}

type Setting = { readonly key: string; readonly value: unknown };

/**
 * Lists every value under its full key, such as `checks.detect`. A variable for an agent or a check
 * that is named like a secret is masked.
 */
function flattenSettings(value: unknown, path: readonly string[] = []): readonly Setting[] {
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
