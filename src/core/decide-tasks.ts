// decide-tasks: decides the next action of a tasks step: waves in order, tasks of a wave in
// parallel, then the outcome.

import type { Step } from "../contracts/flow.ts";
import { errorFingerprint } from "./breaker.ts";
import { record } from "./drafts.ts";
import type { NextAction } from "./next-action.ts";
import { taskPath, wavePath, getCursor } from "./selectors.ts";
import { ownValue } from "./own-values.ts";
import type { OpenAttemptView, RunView, CursorView } from "./state.ts";

/**
 * As in decide-cursor.ts, which imports this file; it is passed in because files must not import
 * each other.
 */
type AdvanceCursor = (run: RunView, cursor: CursorView) => NextAction | null;

/**
 * Waves in order, tasks of a wave in parallel, then the wave's own steps; at the end the outcome of
 * all of it.
 */
export function advanceTasks(
  run: RunView,
  openAttempt: OpenAttemptView,
  step: Step,
  advance: AdvanceCursor,
): NextAction | null {
  for (const [index, wave] of openAttempt.waves.entries()) {
    const cursors = wave.map((task) => getCursor(run, taskPath(openAttempt.attempt, task)));
    if (cursors.some(({ result }) => result === null)) {
      return advanceWave(run, { openAttempt, cursors, width: step.tasks?.parallel ?? 1, advance });
    }

    const waveCursor = ownValue(run.cursors, wavePath(openAttempt.attempt, index));
    if (waveCursor !== undefined && waveCursor.result === null) return advance(run, waveCursor);
    const isOver =
      waveCursor?.result === "failed" ||
      (step.tasks?.failed === "finish_wave" && cursors.some(({ result }) => result === "failed"));
    if (isOver) break;
  }

  return tasksOutcome(run, openAttempt);
}

type Wave = {
  readonly openAttempt: OpenAttemptView;
  readonly cursors: readonly CursorView[];
  /** How many of its tasks may run at once. */
  readonly width: number;
  readonly advance: AdvanceCursor;
};

function advanceWave(
  run: RunView,
  { openAttempt, cursors, width, advance }: Wave,
): NextAction | null {
  let busy = cursors.reduce((sum, cursor) => sum + (cursor.open === null ? 0 : 1), 0);
  for (const cursor of cursors) {
    if (cursor.result !== null) continue;
    const dependencies = findDependencies(run, openAttempt, cursor);
    if (dependencies.some(({ result }) => result === "failed" || result === "skipped")) {
      return record({ event: "task_skipped", walk: cursor.path, because: "blocked" });
    }

    if (dependencies.some(({ result }) => result === null)) continue;
    if (cursor.open === null && busy >= width) continue;
    const next = advance(run, cursor);
    if (next !== null) return next;
    if (cursor.open === null && cursor.block === null) busy++; // It could continue but may not; later ones do not overtake it.
  }

  return null;
}

/** The tasks it depends on; tasks left to people, and unknown ones, block nothing. */
function findDependencies(
  run: RunView,
  open: OpenAttemptView,
  cursor: CursorView,
): readonly CursorView[] {
  const dependencyIds = ownValue(open.after, cursor.task ?? "") ?? [];
  return dependencyIds.flatMap((task) => ownValue(run.cursors, taskPath(open.attempt, task)) ?? []);
}

/** The outcome of all tasks in a few facts; only these are kept. */
function tasksOutcome(run: RunView, open: OpenAttemptView): NextAction {
  const tasks = open.waves
    .flat()
    .map((id) => ({ id, result: getCursor(run, taskPath(open.attempt, id)).result }));
  const resultIds = (result: CursorView["result"]): readonly string[] =>
    tasks.filter((task) => task.result === result).map(({ id }) => id);
  const failed = resultIds("failed");
  const hasBadWave = open.waves.some(
    (_, index) => ownValue(run.cursors, wavePath(open.attempt, index))?.result === "failed",
  );

  const facts = {
    done: resultIds("completed").length,
    failed: failed.length,
    left: open.left.length,
    not_begun: resultIds(null).length + resultIds("skipped").length,
    ...(failed.length > 0 ? { failed_tasks: failed.join(", ") } : {}),
  };

  if (failed.length === 0 && !hasBadWave) {
    return record({ event: "step_completed", attempt: open.attempt, facts });
  }

  const detail =
    failed.length > 0 ? `tasks failed: ${facts.failed_tasks ?? ""}` : "what follows a wave failed";
  return record({
    event: "step_failed",
    attempt: open.attempt,
    facts,
    detail,
    fingerprint: errorFingerprint("tasks_failed", detail),
    reason_code: "tasks_failed",
  });
}
