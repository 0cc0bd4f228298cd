// planning-config: parses .planning/config.json and reports wrong types with their line.

import { PlanningConfig } from "../../../contracts/roadmap.ts";
import type { Finding } from "../../../kit/finding.ts";
import { isRefused, readLocated } from "../../../kit/located.ts";

export const planningConfigPath = ".planning/config.json";

/** Unknown keys are ignored, and a blank file is an empty config. */
export function parsePlanningConfig(
  file: string,
  text: string | Uint8Array,
): { readonly config: PlanningConfig } | { readonly findings: readonly Finding[] } {
  const isEmpty =
    typeof text === "string" ? text.trim() === "" : text.every((byte) => byte <= 0x20);
  if (isEmpty) return { config: {} };
  const source = typeof text === "string" ? text.replace(/^\ufeff/, "") : text;
  const parsed = readLocated(file, source, PlanningConfig);

  return isRefused(parsed) ? parsed : { config: parsed.value };
}
