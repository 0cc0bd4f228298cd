// quarantine: finds whether a flaky check is quarantined, and until when.

import type { Quarantine } from "../contracts/config.ts";
import type { Check } from "../contracts/evidence.ts";

/** A check's quarantine: until the end of which day, and whether that day is over. Null if it never was in one. */
export function quarantineOf(
  list: readonly Quarantine[],
  { id, command }: Pick<Check, "id" | "command">,
  now: string,
): { readonly until: string; readonly isOver: boolean } | null {
  const named = list.filter(({ check }) => check === id || check === command);
  const until = named
    .map((one) => one.until)
    .toSorted()
    .at(-1);
  return until === undefined ? null : { until, isOver: now.slice(0, 10) > until };
}
