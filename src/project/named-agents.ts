// named-agents: agents as a person names them, made good for another folder: a script's path counts from where it was given.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { refuse } from "./reply.ts";

const marker = "scripted:";

/** `codex,scripted:../a.yaml` with whole paths. */
export const agentsGivenIn = (cwd: string, names: string): string =>
  names
    .split(",")
    .map((one) => one.trim())
    .map((one) => (one.startsWith(marker) ? `${marker}${resolve(cwd, one.slice(marker.length))}` : one))
    .join(",");

/** The same; a script that isn't there is refused now, not when somebody is to play it. */
export function requireAgents(cwd: string, names: string): string {
  const given = agentsGivenIn(cwd, names);
  const missing = given.split(",").find((one) => one.startsWith(marker) && !existsSync(one.slice(marker.length)));
  if (missing !== undefined)
    refuse("script_invalid", {
      message: `There is no script ${missing.slice(marker.length)}.`,
      remediation: ["autopilot schema script says what may stand in one"],
    });
  return given;
}
