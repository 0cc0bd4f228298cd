// config: reads and merges all settings, each with its source: flags over environment over project
// over user over defaults.
//
// Invariants:
//   K1. A setting that loosens safety counts only from the user: a flag, the environment, the
//       user's own file. Never from the project's.
//   K2. A broken file is reported with its line, and nothing runs with half of it.

import { homedir } from "node:os";
import { join } from "node:path";
import type { Config } from "../../contracts/config.ts";
import { canonicalJson } from "../../kit/canonical-json.ts";
import type { Finding } from "../../kit/finding.ts";
import type { Positions } from "../../kit/located.ts";
import { configDefaults } from "../../contracts/config-defaults.ts";
import { readEnvironment } from "./config-env.ts";
import { readConfigFile } from "./config-file.ts";
import { withoutLoosening } from "./without-loosening.ts";
import { sha256 } from "../sha256.ts";

/** The source of a value; for a file with its line. */
/** The defaults that a config starts from; the others hold where they are used, if none is set. */
const { isolation, dry_run, network, checks } = configDefaults;
const shownDefaults = {
  isolation,
  dry_run,
  checks: { detect: checks.detect, timeout_minutes: checks.timeout_minutes },
  network,
} satisfies Config;

export type ValueOrigin = {
  readonly from: "flag" | "environment" | "project" | "user" | "default";
  readonly file?: string;
  readonly line?: number;
};

export type ConfigRead =
  | {
      readonly kind: "config";
      readonly config: Config;
      /** Per leaf, by its path: `checks.detect`. */
      readonly origins: Readonly<Record<string, ValueOrigin>>;
      readonly warnings: readonly string[];
      readonly hash: string;
    }
  | { readonly kind: "invalid"; readonly findings: readonly Finding[] };

export type ConfigSources = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The repository's root; null outside one. */
  readonly root: string | null;
  /** The flags' values, already validated by their reader. */
  readonly flags?: Config;
};

export const projectConfigPath = (root: string): string => join(root, ".autopilot", "config.yaml");

/** The user's own file. A relative XDG path is ignored, as its specification asks. */
export function userConfigPath(env: ConfigSources["env"]): string {
  const xdg = env["XDG_CONFIG_HOME"];
  const base =
    xdg !== undefined && xdg.startsWith("/") ? xdg : join(env["HOME"] ?? homedir(), ".config");
  return join(base, "autopilot", "config.yaml");
}

export function readConfig({ env, root, flags = {} }: ConfigSources): ConfigRead {
  const user = readConfigFile(userConfigPath(env));
  const project =
    root === null ? { config: {}, positions: null } : readConfigFile(projectConfigPath(root));
  const environment = readEnvironment(env);

  const findings = [
    ...("findings" in user ? user.findings : []),
    ...("findings" in project ? project.findings : []),
    ...environment.findings,
  ];
  if ("findings" in user || "findings" in project || findings.length > 0) {
    return { kind: "invalid", findings };
  } // K2

  const userConfig = merge([
    createLayer("default", shownDefaults),
    createLayer("user", user.config),
  ]).config;
  const allowedProject = withoutLoosening(project.config, userConfig); // K1

  const layers = [
    createLayer("default", shownDefaults),
    createLayer("user", user.config, user.positions),
    createLayer("project", allowedProject.config, project.positions),
    createLayer("environment", environment.config),
    createLayer("flag", flags),
  ];

  const { config, origins } = merge(layers);
  const lineSuffix = (key: string): string =>
    project.positions === null ? "" : `:${project.positions.placeOf(key.split(".")).line}`;
  const file = root === null ? "" : projectConfigPath(root);
  const ignored = allowedProject.ignored.map(
    ({ key, why }) =>
      `${key} in ${file}${lineSuffix(key)} is ignored: ${why}. Say it with a flag or in ${userConfigPath(env)}.`,
  );

  return {
    kind: "config",
    config,
    origins,
    warnings: [...environment.warnings, ...ignored],
    hash: hashConfig(config),
  };
}

/**
 * The hash of the parts of a config that a run depends on: notification settings change nothing
 * about its work.
 */
export function hashConfig({ notify: _notify, otel: _otel, ...config }: Config): string {
  return sha256(canonicalJson(config));
}

type Layer = {
  readonly from: ValueOrigin["from"];
  readonly config: Config;
  readonly positions: Positions | null;
};
const createLayer = (
  from: ValueOrigin["from"],
  config: Config,
  positions: Positions | null = null,
): Layer => ({ from, config, positions });

type Data = { [key: string]: unknown };
const isMapping = (value: unknown): value is Data =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Lists that add up: what one layer protects, keeps secret or checks, no other layer removes. */
const additiveKeys: readonly string[] = ["protect", "redact", "checks.commands"];

/** Mappings are merged key by key; anything else, except the additive lists, is replaced whole. */
function merge(layers: readonly Layer[]): { config: Config; origins: Record<string, ValueOrigin> } {
  const origins: Record<string, ValueOrigin> = {};
  const data: Data = {};
  for (const layer of layers) mergeInto(data, layer.config, [], layer, origins);

  return { config: data, origins };
}

function mergeInto(
  target: Data,
  source: Data,
  path: readonly string[],
  layer: Layer,
  origins: Record<string, ValueOrigin>,
): void {
  for (const [key, value] of Object.entries(source)) {
    if (value === undefined) continue;
    const keys = [...path, key];

    if (isMapping(value)) {
      const inner = isMapping(target[key]) ? target[key] : {};
      target[key] = inner;
      mergeInto(inner, value, keys, layer, origins);
      continue;
    }

    const name = keys.join(".");
    target[key] = additiveKeys.includes(name) ? joinLists(target[key], value) : value;
    origins[name] = describeOrigin(layer, keys);
  }
}

/** Both lists, each value once; or the second value, if one of them is no list. */
function joinLists(before: unknown, value: unknown): unknown {
  if (!Array.isArray(before) || !Array.isArray(value)) return value;
  return [...new Set([...(before as unknown[]), ...(value as unknown[])])];
}

function describeOrigin({ from, positions }: Layer, keys: readonly string[]): ValueOrigin {
  if (positions === null) return { from };
  return { from, file: positions.file, line: positions.placeOf(keys).line };
}
