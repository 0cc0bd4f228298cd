// order-end: how an order ends whose run has not completed, by the run's state. Pure except for the
// clock.

import type { CommandResponse } from "../../contracts/command-response.ts";
import { hasFailed, listOpenQuestions } from "../../core/selectors.ts";
import type { RunView } from "../../core/state.ts";
import { isReasonCode } from "../../contracts/reason.ts";
import { findRetryPolicy } from "../../project/respond.ts";
import type { OrderEnd } from "../../ports/dispatch.ts";
import { computeResumeTimeMs } from "../../runner/wait-for-provider.ts";

/**
 * The detail of a pause that a worker asked for itself: any worker continues it. Every other pause
 * is for a person to end.
 */
export const handedBack = "handed back";
export const troubleRetryMs = 5_000;
/** Within the range of the database's integers, in which delays are kept. */
const delayMsMax = 2_000_000_000;
/**
 * Whether the failure may pass: another worker, such as a newer one, may be able to continue, or
 * this one later.
 */
export const isFixable = (code: string | null): boolean =>
  code === "journal_newer" ||
  code === "hub_unusable" ||
  (code !== null && isReasonCode(code) && findRetryPolicy(code) === "always");

/** Whether a person requested a pause, even if it has not taken effect yet. */
function isPausedByPerson({ status, reason, detail, asked, asker }: RunView): boolean {
  if (status === "paused") return reason === "operator_paused" && detail !== handedBack;
  return (
    status === "running" &&
    asked === "pause" &&
    asker?.detail !== handedBack &&
    asker?.actor !== "system"
  );
}

/** Whether a run that a worker left stays as it is until a person acts. */
export function restsForPerson(view: RunView): boolean {
  if (hasFailed(view) || isPausedByPerson(view)) return true;
  const { status, reason, parked, decided } = view;
  if (
    status !== "paused" ||
    parked !== undefined ||
    isFixable(reason) ||
    reason === "operator_paused"
  ) {
    return false;
  }

  return decided !== true;
}

/**
 * `response`: what driving the run returned; null if it wasn't driven. `isInterrupted`: the worker
 * was asked to end meanwhile.
 */
export function decideOrderEnd(
  view: RunView,
  response: Pick<CommandResponse, "result" | "message"> | null,
  isInterrupted = false,
): OrderEnd {
  if (view.status === "stopped") {
    return { kind: "ended", outcome: `stopped: ${view.reason ?? "on request"}`, isOver: true };
  }

  const resumesAt = computeResumeTimeMs(view, Date.now());
  if (resumesAt !== null) {
    return {
      kind: "again",
      afterMs: Math.min(Math.max(0, resumesAt - Date.now()), delayMsMax),
      because: "its provider is at a limit",
    };
  }

  if (view.status === "paused" && isFixable(view.reason)) {
    return {
      kind: "again",
      afterMs: troubleRetryMs,
      because: view.detail ?? view.reason ?? "",
      isTrouble: true,
    };
  }

  const isHandedBack =
    view.status === "paused" && view.reason === "operator_paused" && view.detail === handedBack;
  if (isHandedBack || (isInterrupted && view.status === "running" && !isPausedByPerson(view))) {
    return { kind: "again", afterMs: 0, because: handedBack };
  }

  const [question] = listOpenQuestions(view);
  if (question !== undefined) {
    return { kind: "ended", outcome: `waits for an answer: ${question.question}` };
  }

  if (isPausedByPerson(view)) return { kind: "ended", outcome: "rests: paused on request" };
  const refusal = response?.result === "FAIL" ? response.message : null;
  if (refusal !== null && view.status === "running") {
    return { kind: "ended", outcome: `failed: ${refusal}` };
  } // it could not be continued

  const why = view.detail ?? refusal ?? view.reason ?? view.status;
  return { kind: "ended", outcome: hasFailed(view) ? `failed: ${why}` : `rests: ${why}` };
}
