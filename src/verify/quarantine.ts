// quarantine: finds whether a flaky check is quarantined, and until when.

import type { Quarantine } from "../contracts/config.ts";
import type { Check } from "../contracts/evidence.ts";

/**
 * A check's quarantine: until the end of which day, and whether that day is over. Null if it never
 * was in one.
 */
export function findQuarantine(
  quarantines: readonly Quarantine[],
  { id, command }: Pick<Check, "id" | "command">,
  now: string,
): { readonly until: string; readonly isOver: boolean } | null {
  const matches = quarantines.filter(({ check }) => check === id || check === command);
  const until = matches
    .map((quarantine) => quarantine.until)
    .toSorted()
    .at(-1);
  return until === undefined ? null : { until, isOver: now.slice(0, 10) > until };
}
