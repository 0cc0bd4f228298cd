// fold-phase: reducers of phase events: read, surveyed, started, reopened, rewound, skipped,
// completed and failed, with the closing steps that follow a phase. An event names a cursor by its
// path, in the field `walk`; the path of a phase's cursor is the phase's id.
// Invariants F1 and on: core/fold.ts.

import type { EventOf } from "../contracts/event.ts";
import { invariant } from "../kit/invariant.ts";
import { forgiveRepeatedErrors } from "./breaker.ts";
import { nothingSpent } from "./initial-state.ts";
import {
  requireIdleCursor,
  type ReducersOf,
  createCursor,
  requirePhase,
  requireCursor,
} from "./reducers.ts";
import { closingPath } from "./selectors.ts";
import { incrementValue, ownValue, setValue } from "./own-values.ts";
import { restoreCursorPosition, tokensUsedBefore } from "./resumed.ts";
import type { PhaseState, Run, StepCursor } from "./state.ts";

type PhaseEventName =
  | "phases_read"
  | "artifacts_surveyed"
  | "phase_started"
  | "phase_reopened"
  | "phases_rewound"
  | "phase_skipped"
  | "phase_completed"
  | "phase_failed"
  | "closing_completed"
  | "closing_failed";

type EndEvent = {
  readonly walk: string;
  readonly because?: string | undefined;
  readonly pause?: string | undefined;
};

export const phaseReducers: ReducersOf<PhaseEventName> = {
  /** The documents' phases come between those that the flow begins and ends with. */
  phases_read: (run, { phases }) => {
    invariant(!run.isRead, "F1: the phases are read once");
    const allPhases = [
      ...run.phases.filter(({ group }) => group === "before"),
      ...phases.map(createPhase),
      ...run.phases.filter(({ group }) => group === "after"),
    ];
    const ids = new Set(allPhases.map(({ id }) => id));
    invariant(ids.size === allPhases.length, "F1: no two phases bear one id");

    run.isRead = true;
    run.phases = allPhases;
  },
  /** A run was opened, and it was looked at what is still there of earlier work. */
  artifacts_surveyed: (run, { gone, proved, lost = [] }) => {
    run.surveyed = run.opening;
    run.proved = [...proved];
    for (const phase of run.phases) phase.gone = gone.includes(phase.id);
    for (const { walk, step } of lost) requireCursor(run, walk).lost = step;
  },
  phase_started: (run, { walk: id }) => {
    const phase = requirePhase(run, id);
    const isWaiting = phase.status === "waiting" || phase.status === "again";
    invariant(isWaiting && phase.visit === 0, `F1: phase ${id} is waiting for its first visit`);

    openVisit(run, phase, 1);
    restoreCursorPosition(run, requireCursor(run, id));
    setValue(run.ledger.phase, id, { ...nothingSpent(), tokens: tokensUsedBefore(run, id) });
    setValue(run.trees, id, [run.tip.tree]);
  },
  /** A phase that is over begins again, and so does what was decided because of its end. */
  phase_reopened: (run, { walk: id, visit, again = [] }) => {
    const phase = requirePhase(run, id);
    const isOver = ["waiting", "again", "completed", "failed"].includes(phase.status);
    invariant(
      isOver && visit === phase.visit + 1,
      `F1: phase ${id} is over and comes to visit ${visit}`,
    );

    invariant(ownValue(run.cursors, id)?.open === null, `F2: nothing is open in phase ${id}`);
    openVisit(run, phase, visit);
    setValue(run.trees, id, [run.tip.tree]); // Trees of an earlier visit count as progress again.
    unskipBlockedBy(run, id);
    for (const laterId of again) markLaterPhaseAgain(run, laterId);
  },
  /** This phase and those before it, back to `to`, are done again. */
  phases_rewound: (run, { walk: id, to, count, per, retry }) => {
    const cursor = requireIdleCursor(run, id);
    const from = run.phases.findIndex((phase) => phase.id === to);
    const until = run.phases.findIndex((phase) => phase.id === id);
    invariant(from >= 0 && from <= until, `F1: ${to} is phase ${id} or one before it`);
    countRoute(run, cursor, { count, per, retry });

    for (const phase of run.phases.slice(from, until + 1)) {
      Object.assign(phase, { status: "again", because: null });
    }
  },
  phase_skipped: (run, { walk: id, because }) => {
    const phase = requirePhase(run, id);
    invariant(
      phase.status === "waiting" || phase.status === "again",
      `F1: phase ${id} is not begun`,
    );

    phase.status = "skipped";
    phase.because = because;
  },
  phase_completed: (run, event) => {
    const phase = endPhase(run, event, "completed");
    if (run.drafted.flow.closing === undefined || phase.group !== "phases") return;

    const { id, visit } = phase;
    const path = closingPath(id);
    setValue(run.cursors, path, createCursor({ path, kind: "closing", phase: id, visit }));
  },
  phase_failed: (run, event) => {
    endPhase(run, event, "failed");
    forgiveRepeatedErrors(run.breaker);
  },
  closing_completed: (run, event) => void endCursor(run, event, "completed"),
  closing_failed: (run, event) => {
    const cursor = endCursor(run, event, "failed");
    const phase = requirePhase(run, cursor.phase);
    phase.status = "failed"; // Steps that must follow a phase are part of it.
    phase.because = cursor.because;
    phase.paused = false;
  },
};

const createPhase = (phase: EventOf<"phases_read">["phases"][number]): PhaseState => ({
  id: phase.id,
  group: "phases",
  name: phase.name ?? phase.id,
  after: [...phase.after],
  status: phase.skip === undefined ? "waiting" : "skipped",
  visit: 0,
  because: phase.skip ?? null,
  paused: false,
  gone: false,
  ...(phase.about === undefined ? {} : { about: phase.about }),
  ...(phase.checks === undefined ? {} : { checks: phase.checks }),
});

/** Ends a cursor with a result. `pause`: the reason for which the run pauses after it. */
export function endCursor(
  run: Run,
  { walk: path, because, pause }: EndEvent,
  result: NonNullable<StepCursor["result"]>,
): StepCursor {
  const cursor = requireIdleCursor(run, path);
  cursor.result = result;
  cursor.because = because ?? cursor.because;
  run.hold = pause ?? run.hold;
  if (pause !== undefined) delete run.heldBy; // what an earlier hold reported is not this one's cause

  return cursor;
}

type CountedEvent = {
  readonly count?: string | undefined;
  readonly per?: string | undefined;
  readonly retry?: boolean | undefined;
};

/** Increments a count where it is kept; `retry` also counts towards the run's retries. */
export function countRoute(
  run: Run,
  cursor: StepCursor,
  { count, per, retry }: CountedEvent,
): void {
  if (retry === true) run.retries++;
  if (count === undefined) return;
  if (per === "run") incrementValue(run.taken, count);
  else incrementValue(per === "invocation" ? run.invocation : cursor.taken, count);
}

/** Why a phase is skipped that depends on this failed one. */
export const blockedByReason = (id: string): string => `blocked_by_phase_${id}`;

/** A new visit forgets the old one's position and counts; prompts may still see its result. */
function openVisit(run: Run, phase: PhaseState, visit: number): void {
  const { id } = phase;
  const seen = ownValue(run.cursors, id)?.seen ?? {};
  const ownChecks = phase.checks === undefined ? {} : { checks: phase.checks };
  const cursor = createCursor({ path: id, kind: "phase", phase: id, visit, seen, ...ownChecks });

  setValue(run.cursors, id, cursor);
  delete run.cursors[closingPath(id)];
  Object.assign(phase, { status: "open", visit, because: null, paused: false, gone: false });
}

/** Phases that were skipped for a phase's failure wait again, once it is reopened. */
function unskipBlockedBy(run: Run, id: string): void {
  for (const phase of run.phases) {
    if (phase.because === blockedByReason(id)) {
      Object.assign(phase, { status: "waiting", because: null });
    }
  }
}

function markLaterPhaseAgain(run: Run, id: string): void {
  const phase = requirePhase(run, id);
  invariant(
    phase.group === "after" && !["waiting", "open"].includes(phase.status),
    `F1: phase ${id} is over and comes after all others`,
  );

  Object.assign(phase, { status: "again", because: null });
}

function endPhase(run: Run, event: EndEvent, status: "completed" | "failed"): PhaseState {
  const { walk: id } = event;
  invariant(requireCursor(run, id).kind === "phase", `F1: ${id} is a phase's cursor`);
  const { because } = endCursor(run, event, status);
  const phase = requirePhase(run, id);
  invariant(phase.status === "open", `F1: phase ${id} is open`);
  phase.status = status;
  phase.because = because;
  // Steps before and after the phases don't count when a flow pauses after a number of phases.
  if (phase.group === "phases" || run.drafted.flow.pause_every === undefined) run.finished++;

  return phase;
}
