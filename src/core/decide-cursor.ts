// decide-cursor: moves one cursor one step on: where an outcome leads, and what begins next.
// Invariants D1 and on: core/decide.ts.
// Invariants K1 and on: core/breaker.ts.
// Invariants F1 and on: core/fold.ts.

import { stepKind, type Row, type Step } from "../contracts/flow.ts";
import { InvariantBroken, invariant } from "../kit/invariant.ts";
import { estimateNeed, retriesLeft, findShortfall } from "./budget.ts";
import { advanceTasks } from "./decide-tasks.ts";
import {
  answerActor,
  openQuestion,
  presetAnswer,
  askForAgent,
  askForChild,
  askAboutFailure,
  settleChangedTests,
  followReply,
} from "./decide-question.ts";
import { definedFields, pauseRun, record, stopRun, whenIdle } from "./drafts.ts";
import { attemptName } from "./fold-step.ts";
import { reactToLimit } from "./react-to-limit.ts";
import type { NextAction } from "./next-action.ts";
import {
  countValue,
  findMatchingRow,
  listLiveAttempts,
  numberValue,
  stepRetriesMax,
  cursorSteps,
  shouldRun,
} from "./selectors.ts";
import { ownValue } from "./own-values.ts";
import type { OutcomeView, RunView, CursorView } from "./state.ts";

type CountedRoute = { readonly count?: string; readonly per?: string; readonly retry?: boolean };

/** The next action of a cursor; null when it waits for an action, a person, or its tasks. */
export function advanceCursor(run: RunView, cursor: CursorView): NextAction | null {
  if (cursor.result !== null) return null;
  const steps = cursorSteps(run, cursor);
  const step = steps[cursor.at];
  if (step === undefined) throw new InvariantBroken(`F1: ${cursor.path} stands at a step`);
  if (cursor.block !== null) return presetAnswer(run, cursor, cursor.block, step);
  if (cursor.open !== null) {
    const open = ownValue(run.open, cursor.open);
    return open?.stage === "walking" ? advanceTasks(run, open, step, advanceCursor) : null;
  }

  // Artifacts of a step that passed are gone: it goes back to that step.
  if (cursor.lost !== undefined) {
    return record({
      event: "route_taken",
      walk: cursor.path,
      step: step.id,
      to: cursor.lost,
      because: "artifacts_gone",
    });
  }

  const outcome = ownValue(cursor.last, step.id);
  return outcome === undefined
    ? beginStep(run, cursor, step)
    : followOutcome(run, cursor, step, outcome);
}

function beginStep(run: RunView, cursor: CursorView, step: Step): NextAction | null {
  if (!shouldRun(run, cursor, step)) {
    return record({ event: "step_skipped", walk: cursor.path, step: step.id });
  }

  const kind = stepKind(step);
  const attempt = attemptName(cursor, step.id, (ownValue(cursor.ended, step.id) ?? 0) + 1);
  if (kind === "human") return openQuestion(run, cursor, step, attempt);
  const tries = (ownValue(cursor.tries, attempt) ?? 0) + 1;
  const event = "step_started" as const;

  if (kind !== "agent") {
    return {
      do: "attempt",
      event: { event, walk: cursor.path, step: step.id, attempt, kind, try: tries },
    };
  }

  // Half open allows one attempt: every other cursor waits for it. K2
  if (
    run.breaker.state === "half_open" &&
    listLiveAttempts(run).some((open) => open.kind === "agent")
  ) {
    return null;
  }

  const need = estimateNeed(run, cursor.phase, step);
  const shortfall = findShortfall(run, cursor.phase, need); // D5
  if (shortfall !== null) return whenIdle(run, reactToLimit(run, cursor.phase, shortfall, need));

  return {
    do: "attempt",
    event: { event, walk: cursor.path, step: step.id, attempt, kind, try: tries, need },
  };
}

/**
 * Where an outcome leads: a retry, the first row that matches, or the built-in default. `then`
 * never catches a failure.
 */
function followOutcome(
  run: RunView,
  cursor: CursorView,
  step: Step,
  outcome: OutcomeView,
): NextAction | null {
  if (cursor.reply !== null) return followReply(run, cursor, step, cursor.reply);
  if (cursor.child !== undefined) return askForChild(cursor, step, cursor.child);
  if (typeof outcome.facts["agent_asks"] === "string") {
    return askForAgent(cursor, step, outcome.facts["agent_asks"]);
  }

  const hasFailed = outcome.kind === "failed";
  const failuresInRow = ownValue(cursor.streak, step.id) ?? 0;
  // The agent was asked to correct its return within the turn, as often as the step allows: another
  // attempt would begin the same again.
  const wasCorrectedInTurn = step.corrections !== undefined && outcome.reason === "return_invalid";
  if (
    hasFailed &&
    !wasCorrectedInTurn &&
    failuresInRow > 0 &&
    failuresInRow <= stepRetriesMax(run.drafted.flow, step)
  ) {
    return withinRetries(
      run,
      record({ event: "step_retried", walk: cursor.path, step: step.id, n: failuresInRow }),
    );
  }

  const rows: readonly Row[] = hasFailed
    ? [
        ...(step.otherwise ?? []),
        ...((run.drafted.flow.when_step_fails ?? []) as readonly Row[]),
        failByDefault,
      ]
    : (step.then ?? []);
  const route = resolveSpentCounts(run, cursor, findMatchingRow(run, cursor, rows) ?? {});
  return takeRow(run, cursor, { step, outcome, ...route });
}

const uncounted: CountedRoute = {};

/** For a failed step that no row of the flow mentions. */
const failByDefault: Row = { end: "failed", because: "outcome" };

/** The row itself, or the row its spent count names; that one may have a count too. D3 */
function resolveSpentCounts(
  run: RunView,
  cursor: CursorView,
  first: Row,
): { readonly row: Row; readonly counted: CountedRoute } {
  if (first.count === undefined) return { row: first, counted: uncounted };
  const spent = new Set<string>();

  for (let row = first; ;) {
    const name = row.count;
    const rule = name === undefined ? undefined : ownValue(run.drafted.flow.counts ?? {}, name);
    if (name === undefined || rule === undefined) return { row, counted: uncounted };
    invariant(
      !spent.has(name),
      `D3: chains of spent counts end (${[...spent, name].join(" -> ")})`,
    );

    const atMost = numberValue(run, rule.at_most) ?? 0;
    if ((countValue(run, cursor, name) ?? 0) < atMost) {
      return {
        row,
        counted: { count: name, per: rule.per, ...(rule.retry === true ? { retry: true } : {}) },
      };
    }

    spent.add(name);
    row = rule.spent as Row;
  }
}

/** An outcome of a step, the row it matched, and the count that the row uses. */
type MatchedOutcome = {
  readonly step: Step;
  readonly outcome: OutcomeView;
  readonly row: Row;
  readonly counted: CountedRoute;
};

function takeRow(
  run: RunView,
  cursor: CursorView,
  { step, outcome, row, counted }: MatchedOutcome,
): NextAction | null {
  const because = resolveBecause(row, outcome, cursor);
  const aboutTests = givesUp(row) ? settleChangedTests(run, cursor, step, outcome) : null;
  if (aboutTests !== null) return aboutTests;
  if (row.stop !== undefined) {
    return whenIdle(
      run,
      stopRun(run, row.stop, {
        ...definedFields({ detail: outcome.detail || undefined }),
        ...(stepKind(step) === "human" ? answerActor(cursor) : {}),
      }),
    );
  }

  if (row.ask !== undefined) return askAboutFailure(cursor, step, outcome, row);
  if (typeof row.go === "object") {
    return withinRetries(
      run,
      record({
        event: "phases_rewound",
        walk: cursor.path,
        step: step.id,
        to: row.go.phase,
        ...counted,
      }),
      counted,
    );
  }

  const steps = cursorSteps(run, cursor);
  const targetPosition = targetIndex(row, cursor, steps);
  const target = steps[targetPosition];

  if (row.end !== undefined || targetPosition === steps.length) {
    return record({
      event: endings[cursor.kind][row.end ?? "completed"],
      walk: cursor.path,
      ...definedFields({ because, pause: row.pause }),
    });
  }

  if (target === undefined) {
    throw new InvariantBroken(`D3: ${cursor.path}/${step.id} goes to a step of its own walk`);
  }

  const isStepForward =
    targetPosition > cursor.at &&
    row.pause === undefined &&
    row.rest === undefined &&
    row.because === undefined &&
    counted.count === undefined;
  if (isStepForward) return beginStep(run, cursor, target);

  const route = {
    event: "route_taken",
    walk: cursor.path,
    step: step.id,
    to: target.id,
    ...counted,
    ...definedFields({ because, pause: row.pause, rest: row.rest }),
  } as const;
  return withinRetries(run, record(route), counted);
}

/**
 * A row's reason: as written, the outcome's own (`outcome`), or the one that the cursor has already
 * (`kept`).
 */
function resolveBecause(
  { because }: Row,
  outcome: OutcomeView,
  cursor: CursorView,
): string | undefined {
  if (because === "outcome") return outcome.reason ?? undefined;
  return because === "kept" ? (cursor.because ?? undefined) : because;
}

/** The position of the step that a row leads to: the same again, the one it names, or the next. */
function targetIndex({ again, go }: Row, { at }: CursorView, steps: readonly Step[]): number {
  if (again === true) return at;
  return go === undefined ? at + 1 : steps.findIndex(({ id }) => id === go);
}

/** Whether a row ends the attempts at a step: nothing tries it again by itself. */
const givesUp = ({ pause, stop, ask, end }: Row): boolean =>
  pause !== undefined || stop !== undefined || ask !== undefined || end === "failed";

const endings = {
  phase: { completed: "phase_completed", failed: "phase_failed" },
  task: { completed: "task_completed", failed: "task_failed" },
  wave: { completed: "wave_completed", failed: "wave_failed" },
  closing: { completed: "closing_completed", failed: "closing_failed" },
} as const;

/**
 * A retry is taken only while the run has retries left; else it waits for the limit to be raised.
 */
function withinRetries(
  run: RunView,
  next: NextAction,
  { retry }: CountedRoute = { retry: true },
): NextAction | null {
  if (retry !== true || retriesLeft(run) > 0) return next;
  return whenIdle(
    run,
    pauseRun(run, "retry_limit_reached", { detail: `${run.retries} retries were taken` }),
  );
}
