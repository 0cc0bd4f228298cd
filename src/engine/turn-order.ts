import type { Step } from "../contracts/flow.ts";
import { historyOf } from "../core/history.ts";
import { allowanceOf, minutesLeft, retriesLeft } from "../core/budget.ts";
import type { WalkView } from "../core/state.ts";
import type { TurnOrder } from "../ports/agent.ts";
import { withSignal } from "./cancel.ts";
import { type Deed, settingOf } from "./deed.ts";
import type { Brief } from "./world.ts";

const turnMinutesMax = 20;
const asksMax = 3;

/** The session that a step goes on in, and null where it begins its own. */
export function continuedSession({ seen, streak }: Pick<WalkView, "seen" | "streak">, { id, continues }: Step): string | null {
  // Not every agent takes a session up in another folder: where it broke over that, the next try begins a new one.
  const hasBroken = (streak[id] ?? 0) > 0 && seen[id]?.reason === "agent_failed";
  const session = continues === undefined || hasBroken ? undefined : seen[continues]?.facts["session"];
  return typeof session === "string" ? session : null;
}

/** What is asked of the agent in this attempt, and whether its time is bounded by the run's budget rather than by its step. */
export function orderOf(
  deed: Deed,
  brief: Brief,
  layer: string,
  previous?: unknown,
): { readonly turn: TurnOrder; readonly isBoundByBudget: boolean } {
  const { run, walk, step, open } = settingOf(deed);
  const allowed = step.limits?.minutes ?? run.drafted.flow.limits?.step?.minutes ?? turnMinutesMax;
  const left = minutesLeft(run, walk.phase);
  const { facts, history } = historyOf(run, deed.attempt);
  const turn: Omit<TurnOrder, "cancel"> = {
    prompt: brief.prompt,
    returns: brief.returns,
    promise: brief.promise,
    ...(previous === undefined || previous === null ? {} : { previous }),
    cast: brief.cast,
    run: run.drafted.run_id,
    attempt: deed.attempt,
    facts,
    history,
    layer,
    minutesMax: Math.min(allowed, left),
    scope: run.drafted.objective.scope,
    isInterrupted: open.session !== null,
    left: () => allowanceOf(deed.run(), walk.phase),
    isUnpaid: () => deed.run().open[deed.attempt]?.stage === "started",
    session: open.session ?? continuedSession(walk, step),
    onSession: (session, how) =>
      deed.record({
        event: "session_opened",
        attempt: deed.attempt,
        session,
        agent: brief.cast.agent,
        actor: `agent:${brief.cast.agent}`,
        ...(how === undefined ? {} : { how }),
      }),
    onAskAgain: async (ask, errors, raw, usage) => {
      if (ask > asksMax || retriesLeft(deed.run()) === 0) return false;
      const blob = await deed.world.journal.putBlob(raw);
      await deed.record({
        event: "return_asked_again",
        attempt: deed.attempt,
        ask,
        errors: [...errors],
        raw: blob,
        reason_code: "return_invalid",
        ...(usage === null ? {} : { usage: { ...usage, minutes: 0, source: usage.source ?? "reported" } }),
      });
      return true;
    },
    onSignal: deed.world.onSignal,
  };
  return { turn: withSignal(turn, deed.cancel), isBoundByBudget: left < allowed };
}
