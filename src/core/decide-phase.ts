// decide-phase: decides which phase goes next or is skipped because one it depends on failed, and
// what follows a failed one: pause, stop, reopen or carry on.
// Invariants D1 and on: core/decide.ts.

import type { PhaseRow } from "../contracts/flow.ts";
import { advanceCursor } from "./decide-cursor.ts";
import { pauseRun, record, stopRun } from "./drafts.ts";
import { blockedByReason } from "./fold-phase.ts";
import type { NextAction } from "./next-action.ts";
import {
  closingPath,
  findMatchingRow,
  isClosing,
  noPosition,
  numberValue,
  phaseRule,
  getCursor,
  shouldRun,
} from "./selectors.ts";
import { ownValue } from "./own-values.ts";
import type { PhaseGroup, RunView } from "./state.ts";

type PhaseView = RunView["phases"][number];

/** Whether nothing more can be done for a phase at present. */
export function isPhaseFinal(run: RunView, phase: PhaseView): boolean {
  if (phase.status === "failed" || phase.status === "skipped") return true;
  return phase.status === "completed" && !isClosing(run, phase);
}

/**
 * What to do about a failed phase; null once the failure has been handled, or if the other phases
 * come first.
 */
export function reactToFailedPhase(run: RunView, phase: PhaseView): NextAction | null {
  const row = findFailureRow(run, phase);
  if (row.finish !== undefined && !phase.paused) return null;
  if (row.stop !== undefined) return stopRun(run, row.stop);
  if (!phase.paused) {
    return pauseRun(run, row.pause ?? "phase_failed", {
      phase: phase.id,
      detail: phaseFailure(phase),
    });
  }

  return phase.visit <= (run.drafted.flow.reopen?.failed_phase ?? 0)
    ? reopenPhase(run, phase, "operator_retry")
    : null;
}

/**
 * Nothing is left to do and phases have failed: all failures that no person has seen yet are shown
 * now, together; if all were seen, all of them again. Null if no phase failed. D6 (decide.ts)
 */
export function pauseForFailures(run: RunView, failed: readonly PhaseView[]): NextAction | null {
  const unseen = failed.filter((phase) => !phase.paused);
  const reported = unseen.length > 0 ? unseen : failed;
  const [first] = reported;
  if (first === undefined) return null;
  const { finish, pause } = findFailureRow(run, first);
  const phases = unseen.map(({ id }) => id);
  const detail = reported.slice(0, phasesReportedMax).map(phaseFailure).join("; ");
  const moreText =
    reported.length > phasesReportedMax ? `; and ${reported.length - phasesReportedMax} more` : "";

  return pauseRun(run, finish ?? pause ?? "phase_failed", {
    phase: first.id,
    ...(phases.length > 1 ? { phases } : {}),
    detail: `${detail}${moreText}`,
  });
}

const phasesReportedMax = 10;
const phaseFailure = ({ id, because }: PhaseView): string => `phase ${id}: ${because ?? "failed"}`;

/** The flow's row for a failure of this phase; without one the run pauses. */
function findFailureRow(run: RunView, phase: PhaseView): PhaseRow {
  const rows: readonly PhaseRow[] = [
    ...((run.drafted.flow.when_phase_fails ?? []) as readonly PhaseRow[]),
    { pause: "phase_failed" },
  ];
  return findMatchingRow(run, ownValue(run.cursors, phase.id) ?? noPosition, rows) ?? {};
}

/**
 * Runs a finished phase again, and then those phases of the group `after` that had run: they
 * inspect all phases.
 */
export function reopenPhase(run: RunView, phase: PhaseView, because: string): NextAction {
  const hasInspected = ({ group, status }: PhaseView): boolean =>
    group === "after" && status !== "waiting" && status !== "again";
  const repeated =
    phase.group === "after" ? [] : run.phases.filter(hasInspected).map(({ id }) => id);
  return record({
    event: "phase_reopened",
    walk: phase.id,
    visit: phase.visit + 1,
    because,
    ...(repeated.length === 0 ? {} : { again: repeated }),
  });
}

/**
 * The phases of a group, as many in parallel as the flow allows; one that waits for a person takes
 * no slot.
 */
export function advanceGroup(
  run: RunView,
  group: PhaseGroup,
  phases: readonly PhaseView[],
): NextAction | null {
  const { flow } = run.drafted;
  const width = group === "phases" && "read" in flow.phases ? (flow.phases.parallel ?? 1) : 1;

  const active = phases
    .filter(
      (phase) => isClosing(run, phase) || (phase.status === "open" && !isDeferred(run, phase)),
    )
    .slice(0, width);
  for (const phase of active) {
    const next = advanceCursor(
      run,
      getCursor(run, isClosing(run, phase) ? closingPath(phase.id) : phase.id),
    );
    if (next !== null) return next;
  }

  for (const phase of phases) {
    if (phase.status !== "open" || !isDeferred(run, phase)) continue;
    const next = advanceCursor(run, getCursor(run, phase.id));
    if (next !== null) return next;
  }

  if (active.length >= width) return null;
  const remaining = phases.filter(({ status }) => status === "waiting" || status === "again");
  const pauseEvery =
    group === "phases" ? (numberValue(run, flow.pause_every?.phases ?? 0) ?? 0) : 0;
  if (pauseEvery > 0 && run.finished >= pauseEvery && remaining.length > 0 && active.length === 0) {
    return pauseRun(run, "checkpoint_reached");
  }

  for (const phase of remaining) {
    const next = enterPhase(run, phase, phases);
    if (next !== null) return next;
  }

  return null;
}

/** Whether it waits for a person, and the flow says to continue with other phases meanwhile. */
function isDeferred(run: RunView, phase: PhaseView): boolean {
  const block = ownValue(run.cursors, phase.id)?.block ?? null;
  return block !== null && ownValue(run.blocks, block)?.hold === false;
}

function enterPhase(
  run: RunView,
  phase: PhaseView,
  phases: readonly PhaseView[],
): NextAction | null {
  const { flow } = run.drafted;
  const blocker = findBlocker(run, phase);
  if (blocker !== null) return record({ event: "phase_skipped", walk: phase.id, because: blocker });
  const dependencies = run.phases.filter(({ id }) => phase.after.includes(id));
  if (!dependencies.every((dependency) => isPhaseFinal(run, dependency))) return null;
  const isFirstEntry = phase.visit === 0 && phases.every(({ visit }) => visit === 0);
  if (flow.enter === "first_unproved" && isFirstEntry && run.proved.includes(phase.id)) {
    return record({ event: "phase_skipped", walk: phase.id, because: "already_proved" });
  }

  if (!shouldRun(run, noPosition, phaseRule(flow, phase.id))) {
    return record({ event: "phase_skipped", walk: phase.id, because: "not_wanted" });
  }

  if (phase.visit === 0) return record({ event: "phase_started", walk: phase.id });
  return record({
    event: "phase_reopened",
    walk: phase.id,
    visit: phase.visit + 1,
    because: "rewound",
  });
}

/**
 * Why a phase can never begin: one that it depends on failed, or was skipped for such a failure.
 * The group `after` begins whatever failed in the groups before it, so that failures are handled.
 */
function findBlocker(run: RunView, phase: PhaseView): string | null {
  const { phases } = run.drafted.flow;
  if (phase.group === "phases" && "read" in phases && phases.needs !== "completed") return null;
  const dependencies = run.phases.filter(
    ({ id, group }) => phase.after.includes(id) || (phase.group === "phases" && group === "before"),
  );

  const blocker = dependencies.find(
    ({ status, because }) =>
      status === "failed" ||
      (status === "skipped" && because?.startsWith(blockedByReason("")) === true),
  );
  if (blocker === undefined) return null;
  return blocker.status === "failed" ? blockedByReason(blocker.id) : blocker.because;
}
