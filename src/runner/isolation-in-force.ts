// isolation-in-force: combines isolation and resource limits into what is enforced and what is not.

import type { IsolationInForce } from "../contracts/event.ts";
import { type Isolation, detachedProcessGap } from "../workspace/isolation/confinement.ts";
import type { OpenedLimits } from "../workspace/isolation/limits.ts";

/**
 * What the sandbox and the resource limits enforce together. Detached processes are a gap only if
 * neither can end them.
 */
export function combineIsolation(
  {
    level,
    mechanism,
    enforced,
    not_enforced,
  }: Pick<Isolation, "level" | "mechanism" | "enforced" | "not_enforced">,
  limits: Pick<OpenedLimits, "inForce" | "missing">,
): IsolationInForce {
  const endsAll =
    !not_enforced.includes(detachedProcessGap) || !limits.missing.includes(detachedProcessGap);
  const isStillMissing = (text: string): boolean => text !== detachedProcessGap || !endsAll;
  return {
    level,
    mechanism,
    enforced: [...enforced, ...limits.inForce],
    not_enforced: [...new Set([...not_enforced, ...limits.missing])].filter(isStillMissing),
  };
}
