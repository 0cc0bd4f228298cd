// named-agents: resolves agents as a person names them: a script's path is relative to where it was
// given.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { refuse } from "./respond.ts";

const scriptPrefix = "scripted:";

/** Makes script paths in a list of agents (`codex,scripted:../a.yaml`) absolute. */
export const resolveAgentPaths = (cwd: string, names: string): string =>
  names
    .split(",")
    .map((part) => part.trim())
    .map((word) =>
      word.startsWith(scriptPrefix)
        ? `${scriptPrefix}${resolve(cwd, word.slice(scriptPrefix.length))}`
        : word,
    )
    .join(",");

/**
 * Makes script paths absolute and refuses a missing script now, not when an agent is to play it.
 */
export function requireAgents(cwd: string, names: string): string {
  const resolved = resolveAgentPaths(cwd, names);
  const missing = resolved
    .split(",")
    .find((part) => part.startsWith(scriptPrefix) && !existsSync(part.slice(scriptPrefix.length)));
  if (missing !== undefined) {
    refuse("script_invalid", {
      message: `There is no script ${missing.slice(scriptPrefix.length)}.`,
      remediation: ["autopilot schema script says what may stand in one"],
    });
  }

  return resolved;
}
