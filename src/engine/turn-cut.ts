// turn-cut: maps the cause for which a turn was cut short to the fields of its `step_interrupted`
// event.

import type { Usage } from "../contracts/budget.ts";
import type { EventOf } from "../contracts/event.ts";
import type { TurnResult } from "../ports/agent.ts";

const providerCodes = {
  limit: "provider_limit_reached",
  service: "provider_failed",
  request: "provider_failed",
  access: "agent_unavailable",
} as const;

/** The event of a turn that was cut short, with the reason the run pauses for. */
export function buildCutFields(
  result: Extract<TurnResult, { kind: "cut" }>,
): Pick<EventOf<"step_interrupted">, "by" | "reason_code" | "fault" | "until"> {
  if (result.by !== "provider") return { by: "budget", reason_code: "budget_threshold_reached" };
  const { fault, resetAt } = result;
  return {
    by: "provider",
    reason_code: providerCodes[fault],
    fault,
    ...(resetAt === null ? {} : { until: resetAt }),
  };
}

/**
 * An agent that cannot be used isn't a failure of the work, which was not begun: it is charged only
 * if usage is known.
 */
export const buildUnavailableFields = (
  reportedUsage: TurnResult["usage"],
  usage: Usage,
): Pick<EventOf<"step_interrupted">, "by" | "reason_code" | "usage"> => ({
  by: "agent",
  reason_code: "agent_unavailable",
  ...(reportedUsage === null ? {} : { usage }),
});
