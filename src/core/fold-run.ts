// fold-run: reducers of events on the run as a whole: its states, openings, forks and policy, what
// people ask of it (pause, stop, notes, higher limits), and the circuit breaker.
// Invariants F1 and on: core/fold.ts.

import { runTransitions, type RunStatus } from "../contracts/objective.ts";
import { invariant } from "../kit/invariant.ts";
import { beginProbe } from "./breaker.ts";
import { applyFork } from "./fold-fork.ts";
import { type ReducersOf, recordRequestOnce, requirePhase } from "./reducers.ts";
import { settleOverdraft } from "./overdraft.ts";
import { setValue } from "./own-values.ts";
import { halfOpenBreaker } from "./resumed.ts";
import type { Run } from "./state.ts";

/** Older notes that no agent has read by then are dropped. */
const reviewsMax = 50;

type RunEventName =
  | "preview_acknowledged"
  | "run_started"
  | "run_opened"
  | "journal_repaired"
  | "run_paused"
  | "run_resumed"
  | "run_stopped"
  | "run_completed"
  | "document_differed"
  | "run_adopted"
  | "run_forked"
  | "policy_changed"
  | "control_requested"
  | "review_noted"
  | "limit_raised"
  | "circuit_breaker_opened"
  | "circuit_breaker_closed";

export const runReducers: ReducersOf<RunEventName> = {
  preview_acknowledged: (run, { ack }) => {
    invariant(
      run.status === "draft" && ack === run.drafted.ack,
      "F1: what is acknowledged is the preview of this draft",
    );

    run.acknowledged = true;
  },
  run_started: (run, event) => {
    invariant(
      event.ack === run.drafted.ack,
      "F1: a run starts from the preview that was acknowledged",
    );

    transition(run, event, "running");
    run.acknowledged = true;
    run.startedAt = event.ts;
    run.reason = null;
    halfOpenBreaker(run);
  },
  run_opened: (run, { opening, isolation, options }) => {
    invariant(opening > run.opening, `F1: opening ${opening} comes after ${run.opening}`);
    run.opening = opening;
    run.isolation = isolation;
    run.overrides = { ...options };
    run.invocation = {};
    run.resting = null;
  },
  journal_repaired: () => undefined, // The lines that were cut off were never acknowledged, so nothing that counts is lost.
  run_paused: (run, event) => {
    transition(run, event, "paused");
    run.reason = event.reason_code;
    run.detail = event.detail ?? null;
    delete run.decided;
    if (event.short !== undefined) run.short = event.short;
    if (run.asked === "pause") run.asked = null; // A stop that was requested meanwhile still holds.
    run.now = false;
    run.hold = null;
    run.finished = 0;

    for (const id of event.phases ?? (event.phase === undefined ? [] : [event.phase])) {
      requirePhase(run, id).paused = true;
    }
  },
  run_resumed: (run, event) => {
    transition(run, event, "running");
    recordRequestOnce(run, event.request);
    run.reason = null;
    run.detail = null;
    delete run.decided;
    delete run.short;
    if (run.asked === "pause") run.asked = null;
    if (run.breaker.state !== "open") return;
    run.breaker.state = "half_open"; // Only a breaker that was open goes half open.
    beginProbe(run.breaker);
  },
  run_stopped: (run, event) => {
    transition(run, event, "stopped");
    run.reason = event.reason_code;
    run.detail = event.detail ?? null;
  },
  run_completed: (run, event) => {
    invariant(
      run.phases.every(({ status }) => status === "completed" || status === "skipped"),
      "F1: a run with an unfinished or failed phase does not complete",
    );

    transition(run, event, "completed");
    run.reason = event.reason_code;
    run.verdict = event.verdict;
    run.gaps = [...event.gaps];
  },
  document_differed: () => undefined, // It is recorded for people; the state has the value that holds already.
  run_adopted: () => undefined, // The policy event that follows records what changes with it: isolation and agents.
  run_forked: (run, event) => applyFork(run, event),
  policy_changed: (run, { adopted, found, cast, isolation, policy, options, documents }) => {
    if (!adopted) return;
    run.drafted = {
      ...run.drafted,
      ...(documents === undefined ? { config_hash: found } : { documents }),
      ...(options === undefined ? {} : { options: { ...run.drafted.options, ...options } }),
      ...(cast === undefined ? {} : { cast }),
      ...(isolation === undefined ? {} : { isolation }),
      ...(policy === undefined ? {} : { policy }),
    };
  },

  control_requested: (run, { request, control, now, actor, detail }) => {
    invariant(
      run.status === "running" || run.status === "paused",
      "F1: a run that is going or paused can be asked to pause or stop",
    );

    recordRequestOnce(run, request);
    if (run.asked === "stop") return;
    run.asked = control;
    run.asker = { actor, ...(detail === undefined ? {} : { detail }) };
    run.now = now;
  },
  review_noted: (run, { request, commit, notes, actor }) => {
    invariant(
      run.status === "running" || run.status === "paused",
      "F1: a run that goes on can still read a note",
    );

    recordRequestOnce(run, request);
    run.notes = [
      ...(run.notes ?? []),
      { request, commit, actor, notes: notes.map((note) => ({ ...note })) },
    ].slice(-reviewsMax);
  },
  limit_raised: (run, { request, scope, dimension, to }) => {
    invariant(Number.isFinite(to) && to >= 0, `F1: the limit ${dimension} is raised to a number`);
    recordRequestOnce(run, request);
    setValue(run.limits[scope], dimension, to);
    settleOverdraft(run);
    // The raised limit is what it waited for: no cooldown is needed.
    if (scope === "phase" && run.breaker.because === "phase_cap") run.breaker.cooldown_until = null;
  },

  circuit_breaker_opened: ({ breaker }, { because, cooldown_until, detail, short }) => {
    breaker.state = "open";
    breaker.because = because;
    breaker.cooldown_until = cooldown_until;
    breaker.opened++;
    breaker.probed = null;
    if (detail !== undefined) breaker.detail = detail;
    else delete breaker.detail;

    if (short !== undefined) breaker.short = short;
    else delete breaker.short;
  },
  circuit_breaker_closed: ({ breaker }) => {
    breaker.state = "closed";
    breaker.because = null;
    breaker.cooldown_until = null;
    breaker.opened = 0;
    breaker.probed = null;
    delete breaker.detail;
    delete breaker.short;
  },
};

/** One of the allowed transitions, from the run's actual status. */
function transition(
  run: Run,
  event: { readonly from_state: RunStatus; readonly to_state: RunStatus },
  to: RunStatus,
): void {
  const isAllowed = runTransitions.some(([from, target]) => from === run.status && target === to);
  invariant(
    event.from_state === run.status && event.to_state === to && isAllowed,
    `F1: a run goes from ${run.status} to ${to}`,
  );

  run.status = to;
}
