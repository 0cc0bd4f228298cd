// turn-request: builds the request for an agent's turn: prompt, time limit, scope, budget left and
// session to continue.

import { stepMinutesDefault } from "../contracts/config-defaults.ts";
import { correctionsMax, type Step } from "../contracts/flow.ts";
import { buildTurnHistory } from "../core/turn-history.ts";
import { meterAllowance, minutesLeft, retriesLeft } from "../core/budget.ts";
import type { CursorView } from "../core/state.ts";
import type { TurnRequest } from "../ports/agent.ts";
import { withSignal } from "./cancel.ts";
import { type StepExecution, readContext } from "./step-execution.ts";
import type { TurnPrompt } from "./runtime.ts";

/** The session that a step continues; null if it starts its own. */
export function findSessionToContinue(
  { seen, streak }: Pick<CursorView, "seen" | "streak">,
  { id, continues }: Step,
): string | null {
  if (continues === undefined) return null;

  // Not every agent can resume a session in another folder: if it failed over that, the next try
  // starts a new one.
  const hasSessionFailed = (streak[id] ?? 0) > 0 && seen[id]?.reason === "agent_failed";
  if (hasSessionFailed) return null;

  const session = seen[continues]?.facts["session"];
  return typeof session === "string" ? session : null;
}

/**
 * The request for this attempt's turn, and whether its time is bounded by the run's budget rather
 * than by its step.
 */
export function buildTurnRequest(
  execution: StepExecution,
  turnPrompt: TurnPrompt,
  layer: string,
  previous?: unknown,
): { readonly turn: TurnRequest; readonly isBoundByBudget: boolean } {
  const { run, cursor, step, openAttempt } = readContext(execution);
  const stepMinutes =
    step.limits?.minutes ?? run.drafted.flow.limits?.step?.minutes ?? stepMinutesDefault;
  const budgetMinutes = minutesLeft(run, cursor.phase);
  const { facts, history } = buildTurnHistory(run, execution.attempt);

  const turn: Omit<TurnRequest, "cancel"> = {
    prompt: turnPrompt.prompt,
    returns: turnPrompt.returns,
    promise: turnPrompt.promise,
    ...(previous === undefined || previous === null ? {} : { previous }),
    cast: turnPrompt.cast,
    run: run.drafted.run_id,
    attempt: execution.attempt,
    facts,
    history,
    layer,
    minutesMax: Math.min(stepMinutes, budgetMinutes),
    scope: run.drafted.objective.scope,
    isInterrupted: openAttempt.session !== null,
    allowanceLeft: () => meterAllowance(execution.run(), cursor.phase),
    isUnpaid: () => execution.run().open[execution.attempt]?.stage === "started",
    session: openAttempt.session ?? findSessionToContinue(cursor, step),
    onSession: createSessionRecorder(execution, turnPrompt.cast.agent),
    onAskAgain: createCorrectionRecorder(execution),
    onLiveEvent: execution.runtime.onLiveEvent,
  };

  return { turn: withSignal(turn, execution.cancel), isBoundByBudget: budgetMinutes < stepMinutes };
}

function createSessionRecorder(
  execution: StepExecution,
  agent: string,
): NonNullable<TurnRequest["onSession"]> {
  return (session, how) =>
    execution.record({
      event: "session_opened",
      attempt: execution.attempt,
      session,
      agent,
      actor: `agent:${agent}`,
      ...(how === undefined ? {} : { how }),
    });
}

/** Records that the agent is asked again for its result; refuses if it was asked often enough. */
function createCorrectionRecorder(
  execution: StepExecution,
): NonNullable<TurnRequest["onAskAgain"]> {
  const { corrections = correctionsMax } = readContext(execution).step;

  return async (ask, errors, raw, usage) => {
    const isOneTooMany = ask > 1 + corrections; // the first ask is the turn's own prompt
    if (isOneTooMany || retriesLeft(execution.run()) === 0) return false;

    const blob = await execution.runtime.journal.putBlob(raw);
    const usageSpent =
      usage === null ? null : { ...usage, minutes: 0, source: usage.source ?? "reported" };
    await execution.record({
      event: "return_asked_again",
      attempt: execution.attempt,
      ask,
      errors: [...errors],
      raw: blob,
      reason_code: "return_invalid",
      ...(usageSpent === null ? {} : { usage: usageSpent }),
    });

    return true;
  };
}
