// record-requests: journals the requests of other processes, each once, and drops those that no
// longer apply.

import type { Usage } from "../contracts/budget.ts";
import type { Draft } from "../contracts/event.ts";
import type { AttemptId } from "../contracts/ids.ts";
import { decide } from "../core/decide.ts";
import { isRefusedGrant } from "../core/grants.ts";
import { ownValue } from "../core/own-values.ts";
import { isRunOpen, listOpenQuestions } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";
import type { RequestQueue, RunRequest } from "../ports/request-queue.ts";

/** `record` journals an event. A request is removed from the queue only after that. */
export async function recordRequests(
  queue: RequestQueue,
  run: RunView,
  record: (event: Draft) => Promise<unknown>,
): Promise<void> {
  for (const request of await queue.pending()) {
    if (run.requests[request.request] === undefined && isApplicable(run, request)) {
      await record(toRequestEvent(run, request));
    }

    await queue.forget(request.request);
  }
}

/**
 * Records what follows from a journaled stop, for a run that no process works on: only its events
 * are still to be written.
 */
export async function recordStop(
  view: () => RunView,
  record: (event: Draft) => Promise<unknown>,
): Promise<void> {
  while (view().asked === "stop") {
    const next = decide(view());
    if (next.do === "record") await record(next.event);
    else if (next.do === "cancel") await record(buildInterrupted(view(), next.attempt, null));
    else return;
  }
}

/** `usage`: what the attempt has used, if that is known. */
export function buildInterrupted(
  { asked }: RunView,
  attempt: AttemptId,
  usage: Usage | null,
): Draft {
  const reason_code = asked === "stop" ? "operator_stopped" : "operator_paused";
  return {
    event: "step_interrupted",
    attempt,
    by: "operator",
    reason_code,
    ...(usage === null ? {} : { usage }),
  };
}

/** Whether a request still makes sense in the run's current state. */
export function isApplicable(run: RunView, request: RunRequest): boolean {
  if (isRefusedGrant(request)) return false; // the sender's own check can be bypassed by writing the file by hand
  switch (request.event) {
    case "control_requested":
      // A parked run would continue by itself, so a pause means something even there.
      return (
        run.status === "running" ||
        (run.status === "paused" && (request.control === "stop" || run.parked !== undefined))
      );
    case "block_answered":
      return listOpenQuestions(run).some(({ block }) => block === request.block);
    case "limit_raised":
      // The limit may have been raised further meanwhile: this request would lower it.
      return isRunOpen(run) && (run.limits[request.scope][request.dimension] ?? 0) < request.to;
    case "review_noted":
      return isRunOpen(run);
    case "run_resumed":
      return run.status === "paused";
    default:
      return false;
  }
}

function limitBefore(
  { limits }: RunView,
  { scope, dimension }: Extract<RunRequest, { readonly event: "limit_raised" }>,
) {
  const limitBeforeRaise = ownValue(limits[scope], dimension);
  return limitBeforeRaise === undefined ? {} : { from: limitBeforeRaise };
}

/** The request as the journal writes it down. */
export function toRequestEvent(run: RunView, request: RunRequest): Draft {
  switch (request.event) {
    case "control_requested": {
      const { detail, ...rest } = request;
      // A person's pause without a message stays a person's when the machine asks for one as well.
      const isSamePause =
        request.control === "pause" && run.asked === "pause" && run.asker?.detail === undefined;
      return {
        ...rest,
        ...(isSamePause || detail === undefined ? {} : { detail }),
        reason_code: request.control === "stop" ? "operator_stopped" : "operator_paused",
      };
    }
    case "block_answered":
      return { ...request, reason_code: "block_answered" };
    case "limit_raised":
      return { ...request, ...limitBefore(run, request), reason_code: "limit_raised" };
    case "review_noted":
      return { ...request, reason_code: "review_noted" };
    default:
      return {
        ...request,
        from_state: run.status,
        to_state: "running",
        reason_code: "operator_resumed",
      };
  }
}
