// planning-config: reads .planning/config.json and reports wrong types with their line.

import { PlanningConfig } from "../../../contracts/roadmap.ts";
import type { Finding } from "../../../kit/finding.ts";
import { isRefused, readLocated } from "../../../kit/located.ts";

/** Where the project keeps it. */
export const planningConfigPath = ".planning/config.json";

/** What `.planning/config.json` says; a wrong type is reported with its line, a key that is not ours is left alone. An empty file says nothing. */
export function readPlanningConfig(
  file: string,
  text: string | Uint8Array,
): { readonly config: PlanningConfig } | { readonly findings: readonly Finding[] } {
  const isEmpty = typeof text === "string" ? text.trim() === "" : text.every((byte) => byte <= 0x20);
  if (isEmpty) return { config: {} };
  const source = typeof text === "string" ? text.replace(/^\ufeff/, "") : text;
  const read = readLocated(file, source, PlanningConfig);
  return isRefused(read) ? read : { config: read.value };
}
