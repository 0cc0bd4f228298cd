// isolation-in-force: combines isolation and resource limits into what is enforced and what is not.

import type { IsolationInForce } from "../contracts/event.ts";
import { type Isolation, detachedProcessGap } from "../workspace/isolation/confinement.ts";
import type { OpenedLimits } from "../workspace/isolation/limits.ts";

/** Combines both: what either the sandbox or the resource limits enforce is enforced. */
export function isolationInForce(
  { level, mechanism, enforced, not_enforced }: Pick<Isolation, "level" | "mechanism" | "enforced" | "not_enforced">,
  limits: Pick<OpenedLimits, "inForce" | "missing">,
): IsolationInForce {
  const endsAll = !not_enforced.includes(detachedProcessGap) || !limits.missing.includes(detachedProcessGap);
  const isMissing = (text: string): boolean => text !== detachedProcessGap || !endsAll;
  return {
    level,
    mechanism,
    enforced: [...enforced, ...limits.inForce],
    not_enforced: [...new Set([...not_enforced, ...limits.missing])].filter(isMissing),
  };
}
