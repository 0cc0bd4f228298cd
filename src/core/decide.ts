// decide: maps a state to the one next action. Pure; names no flow, no step, no role.
//
// Invariants:
//   D1. Attempts in doubt are settled before anything new begins.
//   D2. One open attempt per cursor (F2 in fold.ts); cursors run in parallel. An attempt that waits
//       for its place in its wave isn't live until that place has come (isInOrder in selectors.ts).
//   D3. Every loop back is counted, and a spent count says what happens then (decide-cursor.ts).
//   D4. Nothing new begins while a stop, a pause, a hold, a limit or an open breaker is in force.
//   D5. No turn begins that the budget cannot cover; after a turn that exceeded a limit nothing
//       continues.
//   D6. A run with a failed phase never completes.

import {
  cooldownUntil,
  isErrorRepeatedTooOften,
  findTripReason,
  whyBreakerOpen,
} from "./breaker.ts";
import type { Usage } from "../contracts/budget.ts";
import { findShortfall, shortfallOfRepeat } from "./budget.ts";
import {
  advanceGroup,
  isPhaseFinal,
  pauseForFailures,
  reactToFailedPhase,
  reopenPhase,
} from "./decide-phase.ts";
import { pauseRun, record, stopRun } from "./drafts.ts";
import {
  reactToLimit,
  reactToOverdraft,
  reactToCutTurn,
  findLargestTurn,
} from "./react-to-limit.ts";
import type { NextAction } from "./next-action.ts";
import { findOverdraft } from "./overdraft.ts";
import {
  listOpenAttempts,
  phaseGroups,
  filterLive,
  listLiveAttempts,
  getCursor,
} from "./selectors.ts";
import type { OpenAttemptView, RunStateView, RunView } from "./state.ts";
import { completionCodes, computeVerdict } from "./verdict.ts";

const rest = (why: string): NextAction => ({ do: "rest", why });
const wait: NextAction = { do: "wait" };

export function decide(run: RunStateView): NextAction {
  if (run.status === "unborn") return rest("run_missing");
  if (run.status === "stopped" || run.status === "completed") return rest(run.reason ?? run.status);
  if (run.status === "draft") {
    return rest(run.acknowledged ? "ack_recorded" : "dry_run_required_before_execute");
  }

  if (run.asked === "stop") return stopStep(run);
  if (run.status === "paused") return rest(run.reason ?? run.status);

  const open = listOpenAttempts(run);
  const live = filterLive(open, run); // D2
  // Also attempts that wait for their place: cancelling ends every attempt of this opening, and
  // none may be left over.
  const toCancel =
    run.asked === "pause" && run.now
      ? open.find(({ opening }) => opening === run.opening)
      : undefined;
  if (toCancel !== undefined) return { do: "cancel", attempt: toCancel.attempt };
  const breakerEvent = breakerTransition(run);
  if (breakerEvent !== null) return breakerEvent;
  const halt = findHalt(run); // D4
  if (halt !== null) return live.length > 0 ? wait : halt;
  const inDoubt =
    live.length === open.length ? undefined : open.find(({ opening }) => opening !== run.opening);
  if (inDoubt !== undefined) return settleInDoubt(run, inDoubt, live.length); // D1
  if (run.surveyed !== run.opening) return { do: "survey" };
  const { phases } = run.drafted.flow;
  if (!run.isRead && "read" in phases) return { do: "read", reader: phases.read };
  const next = advanceRun(run);
  if (next !== null && isErrorRepeatedTooOften(run) && isRetry(next)) {
    return breakerOpens(run, "same_error");
  }

  return next ?? (live.length > 0 ? wait : pauseStuck(run));
}

/**
 * The next action towards a stop: each attempt of this opening is cancelled, and each that a crash
 * cut short before it came to anything is written off; paid work is kept as it is.
 */
function stopStep(run: RunView): NextAction {
  const openAttempt = listOpenAttempts(run).find(
    ({ opening, stage }) => opening === run.opening || stage === "started" || stage === "reading",
  );
  return openAttempt === undefined
    ? stopRun(run, "operator_stopped", { ...run.asker })
    : { do: "cancel", attempt: openAttempt.attempt };
}

function breakerTransition(run: RunView): NextAction | null {
  if (run.breaker.state === "half_open" && run.breaker.probed === "passed") {
    return record({ event: "circuit_breaker_closed" });
  }

  const because = findTripReason(run);
  return because === null ? null : breakerOpens(run, because);
}

const breakerOpens = (
  run: RunView,
  because: "no_progress" | "same_error" | "probe_failed",
): NextAction =>
  record({
    event: "circuit_breaker_opened",
    because,
    cooldown_until: cooldownUntil(run),
    reason_code: "breaker_open",
  });

/** Whether an action is another agent attempt, or a loop back to one. */
function isRetry(next: NextAction): boolean {
  if (next.do === "attempt") return next.event.kind === "agent";
  if (next.do !== "record") return false;
  const { event } = next;
  if (event.event === "step_retried") return true;

  return (
    (event.event === "route_taken" || event.event === "phases_rewound") && event.retry === true
  );
}

/**
 * What halts the run, so that nothing new may begin: a pause or a rest, or the event that leads to
 * one; null if nothing does.
 */
function findHalt(run: RunView): NextAction | null {
  if (run.asked === "pause") return pauseRun(run, "operator_paused", { ...run.asker });
  const overdraft = findOverdraft(run);
  if (overdraft !== null) return reactToOverdraft(run, run.overdrawn ?? "", overdraft);
  const cutTurn = run.hold === "budget_threshold_reached" ? reactToCutTurn(run) : null;
  if (cutTurn !== null) return cutTurn;
  if (run.hold !== null) return pauseRun(run, run.hold, holdDetail(run, run.hold));
  if (run.resting !== null) return rest(run.resting);
  if (run.breaker.state !== "open") return null;
  // If the budget is used up as well, that is reported first: a cooldown would not help.
  const phase = (run.phases.find(({ status }) => status === "open") ?? run.phases[0])?.id;
  const shortfall = phase === undefined ? null : findShortfall(run, phase, noUsage);
  const isWhyItOpened = shortfall?.scope === "phase" && run.breaker.because === "phase_cap"; // its own details are better
  if (shortfall !== null && phase !== undefined && !isWhyItOpened) {
    return reactToLimit(run, phase, shortfall, findLargestTurn(run));
  }

  const { detail = "", short: limits = [] } = run.breaker;
  if (run.breaker.because === "phase_cap") {
    return pauseRun(run, "phase_cap_reached", { detail, short: [...limits] });
  }

  return pauseRun(run, "breaker_open", { detail: whyBreakerOpen(run) });
}

/** Details of a hold beyond its reason: which files, or what the provider said. */
function holdDetail({ parked, heldBy }: RunView, hold: string): { readonly detail?: string } {
  if (heldBy?.reason !== hold) return {};
  if (heldBy.by === "provider" && parked !== undefined) return { detail: parkedDetail(parked) };
  return heldBy.detail === "" ? {} : { detail: heldBy.detail };
}

function parkedDetail({ detail, until }: NonNullable<RunView["parked"]>): string {
  if (until === null || detail.includes(until)) return detail;
  return `${detail}${detail.endsWith(".") ? "" : "."} It is lifted at ${until}`;
}

const noUsage: Usage = { tokens: 0, calls: 0, minutes: 0, source: "estimated" };

/**
 * A turn that was cut short may have to be repeated, and must then be affordable like any other. D5
 */
function settleInDoubt(run: RunView, open: OpenAttemptView, live: number): NextAction {
  const isTurn = open.kind === "agent" && open.stage === "started";
  const { phase } = getCursor(run, open.cursor);
  const shortfall = isTurn ? shortfallOfRepeat(run, phase, open) : null;
  if (shortfall === null) return { do: "settle", attempt: open.attempt };

  return live > 0 ? wait : reactToLimit(run, phase, shortfall, open.need ?? noUsage);
}

function advanceRun(run: RunView): NextAction | null {
  for (const group of phaseGroups) {
    const phases = run.phases.filter((phase) => phase.group === group);
    if (phases.length === 0) continue;
    for (const phase of phases) {
      const reaction = phase.status === "failed" ? reactToFailedPhase(run, phase) : null;
      if (reaction !== null) return listLiveAttempts(run).length > 0 ? null : reaction;
    }

    const reopenedPhase = phases.find((phase) => phase.gone && phase.status === "completed");
    if (reopenedPhase !== undefined) return reopenPhase(run, reopenedPhase, "artifacts_gone");
    if (phases.every((phase) => isPhaseFinal(run, phase))) continue;

    return advanceGroup(run, group, phases);
  }

  const failurePause = pauseForFailures(
    run,
    run.phases.filter(({ status }) => status === "failed"),
  );
  if (failurePause !== null) return failurePause; // D6
  const { verdict, gaps } = computeVerdict(run);

  return record({
    event: "run_completed",
    from_state: run.status,
    to_state: "completed",
    verdict,
    gaps: [...gaps],
    reason_code: completionCodes[verdict],
  });
}

/** Nothing can move and nothing runs: only a person can help. */
function pauseStuck(run: RunView): NextAction {
  const blocks = Object.values(run.blocks);
  const block = blocks.find(({ hold }) => hold) ?? blocks[0];
  return block === undefined
    ? pauseRun(run, "nothing_can_move")
    : pauseRun(run, block.code, { detail: block.question });
}
