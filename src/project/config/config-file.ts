// config-file: reads and validates one config file; errors carry their line.

import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { extendableProfiles, explainNotExtendable } from "../../agents/profiles/resolve-profile.ts";
import { Config } from "../../contracts/config.ts";
import type { Finding } from "../../kit/finding.ts";
import {
  documentBytesMax,
  fitLocated,
  isRefused,
  parseLocated,
  type Positions,
} from "../../kit/located.ts";
import { parseBudget } from "./parse-budget.ts";

export type ConfigFile =
  | { readonly config: Config; readonly positions: Positions | null }
  | { readonly findings: readonly Finding[] };

const versionMax = 1;

/** Reads one config file. A missing one counts as empty; a broken one is reported with its line. */
export function readConfigFile(path: string): ConfigFile {
  const refuse = (
    rule: string,
    message: string,
    position = { line: 1, column: 1 },
    key = "",
  ): ConfigFile => ({
    findings: [{ file: path, ...position, path: key, rule, message, severity: "error" }],
  });

  const bytes = readBytes(path);
  if (bytes === null) return { config: {}, positions: null };
  if (typeof bytes === "string") return refuse("config_file", bytes);
  const parsed = parseLocated(path, bytes);
  if (isRefused(parsed)) return parsed;
  if (parsed.value === null) return { config: {}, positions: null };
  const version: unknown =
    typeof parsed.value === "object" && "version" in parsed.value
      ? parsed.value.version
      : undefined;
  if (typeof version === "number" && version > versionMax) {
    return refuse(
      "version",
      `found version ${version}, expected ${versionMax}: it was written for a newer autopilot`,
      parsed.positions.placeOf(["version"]),
      "version",
    );
  }

  const located = fitLocated(parsed, Config);
  if (isRefused(located)) return located;
  const budget =
    located.value.max_budget === undefined ? null : parseBudget(located.value.max_budget);
  if (budget !== null && "fault" in budget) {
    return refuse(
      "max_budget",
      budget.fault,
      located.positions.placeOf(["max_budget"]),
      "max_budget",
    );
  }

  for (const [name, { like }] of Object.entries(located.value.agents ?? {})) {
    const keys = ["agents", name, "like"];
    if (like !== undefined && !extendableProfiles.includes(like)) {
      return refuse(
        "like",
        explainNotExtendable(like),
        located.positions.placeOf(keys),
        keys.join("."),
      );
    }
  }

  return { config: located.value, positions: located.positions };
}

/** The file's bytes, null if there is none, a message if it cannot be read. */
function readBytes(path: string): Uint8Array | null | string {
  let fd: number;
  try {
    // Without blocking: a pipe at a config's path must not hang the command.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    return code === "ENOENT" || code === "ENOTDIR" ? null : `cannot be read (${code})`;
  }

  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return "found something that isn't a regular file";
    if (stat.size > documentBytesMax) {
      return `found ${stat.size} bytes, expected at most ${documentBytesMax}`;
    }

    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}
