// config-env: reads config keys from AUTOPILOT_ environment variables.

import type { Config } from "../../contracts/config.ts";
import { Config as ConfigSchema } from "../../contracts/config.ts";
import { pathText, type Finding } from "../../kit/finding.ts";
import { findIssues } from "../../kit/located-issues.ts";
import { editDistance, suggest } from "../../kit/suggest.ts";

type ValueKind = "text" | "flag" | "number";

/** The environment variables of config keys. */
export const environmentKeys: Readonly<
  Record<string, { readonly path: readonly string[]; readonly kind: ValueKind }>
> = {
  AUTOPILOT_AGENT: { path: ["agent"], kind: "text" },
  AUTOPILOT_ISOLATION: { path: ["isolation"], kind: "text" },
  AUTOPILOT_DRY_RUN: { path: ["dry_run"], kind: "text" },
  AUTOPILOT_MAX_BUDGET: { path: ["max_budget"], kind: "text" },
  AUTOPILOT_COMPLETION_MODE: { path: ["completion_mode"], kind: "text" },
  AUTOPILOT_RISK_LEVEL: { path: ["risk_level"], kind: "text" },
  AUTOPILOT_HANDOFF_MODE: { path: ["handoff_mode"], kind: "text" },
  AUTOPILOT_APPROVAL_POLICY: { path: ["approval_policy"], kind: "text" },
  AUTOPILOT_CHECKS_DETECT: { path: ["checks", "detect"], kind: "flag" },
  AUTOPILOT_CHECKS_TIMEOUT_MINUTES: { path: ["checks", "timeout_minutes"], kind: "number" },
  AUTOPILOT_ON_LIMIT: { path: ["on_limit"], kind: "text" },
  AUTOPILOT_NETWORK_CHECKS: { path: ["network", "checks"], kind: "flag" },
  AUTOPILOT_OTEL_EXPORT: { path: ["otel", "export"], kind: "flag" },
};

export type EnvironmentRead = {
  readonly config: Config;
  readonly findings: readonly Finding[];
  readonly warnings: readonly string[];
};

/** The values from the environment. An empty variable counts as unset. */
export function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): EnvironmentRead {
  const data: Record<string, unknown> = {};
  const findings: Finding[] = [];
  const warnings: string[] = [];

  const names = Object.keys(env).filter((variable) => variable.startsWith("AUTOPILOT_"));
  for (const name of names.sort()) {
    const text = env[name]?.trim() ?? "";
    if (text === "") continue;

    const key = Object.hasOwn(environmentKeys, name) ? environmentKeys[name] : undefined;
    if (key === undefined) {
      warnings.push(...warnOfTypo(name));
      continue;
    }

    const value = parseValue(text, key.kind);
    if (value === null) {
      const expected = key.kind === "flag" ? "true or false" : "a number";
      const message = `found ${JSON.stringify(text)}, expected ${expected}`;
      findings.push(createFinding(name, key.path.join("."), message));
    } else {
      setAtPath(data, key.path, value);
    }
  }

  const { value, issues } = findIssues(ConfigSchema, data);
  for (const issue of issues) {
    const path = pathText(issue.path);
    findings.push(createFinding(findVariable(path) ?? "AUTOPILOT_", path, issue.message));
  }

  return { config: findings.length > 0 ? {} : value, findings, warnings };
}

/** A warning if an unknown variable is spelled nearly like a known one. */
function warnOfTypo(name: string): readonly string[] {
  const similarName = suggest(name, Object.keys(environmentKeys));
  if (similarName === null || editDistance(name, similarName) > 2) return [];
  return [`The environment variable ${name} is not known. Did you mean ${similarName}?`];
}

const createFinding = (variable: string, path: string, message: string): Finding => ({
  file: `$${variable}`,
  line: 1,
  column: 1,
  path,
  rule: "environment",
  message,
  severity: "error",
});

/** The variable that sets the key at this path. */
const findVariable = (path: string): string | undefined =>
  Object.keys(environmentKeys).find(
    (variable) => environmentKeys[variable]?.path.join(".") === path,
  );

/** The value that a text stands for; null if it isn't a value of its kind. */
function parseValue(text: string, kind: ValueKind): string | number | boolean | null {
  if (kind === "text") return text;
  if (kind === "flag") {
    if (text === "true" || text === "1") return true;
    return text === "false" || text === "0" ? false : null;
  }

  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : null;
}

function setAtPath(data: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [head = "", ...rest] = path;
  if (rest.length === 0) data[head] = value;
  else setAtPath((data[head] ??= {}) as Record<string, unknown>, rest, value);
}
