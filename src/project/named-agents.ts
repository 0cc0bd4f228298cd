// named-agents: resolves agents as a person names them: a script's path is relative to where it was given.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { refuse } from "./reply.ts";

const marker = "scripted:";

/** `codex,scripted:../a.yaml` with absolute paths. */
export const agentsGivenIn = (cwd: string, names: string): string =>
  names
    .split(",")
    .map((part) => part.trim())
    .map((word) => (word.startsWith(marker) ? `${marker}${resolve(cwd, word.slice(marker.length))}` : word))
    .join(",");

/** The same; a missing script is refused now, not when an agent is to play it. */
export function requireAgents(cwd: string, names: string): string {
  const given = agentsGivenIn(cwd, names);
  const missing = given.split(",").find((part) => part.startsWith(marker) && !existsSync(part.slice(marker.length)));
  if (missing !== undefined)
    refuse("script_invalid", {
      message: `There is no script ${missing.slice(marker.length)}.`,
      remediation: ["autopilot schema script says what may stand in one"],
    });
  return given;
}
