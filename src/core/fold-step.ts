// fold-step: reducers of step events: started, completed, failed, interrupted, settled, skipped,
// retried and routed.
// Invariants F1 and on: core/fold.ts.

import type { Envelope, EventOf } from "../contracts/event.ts";
import { stepKind } from "../contracts/flow.ts";
import type { Outcome } from "../contracts/outcome.ts";
import { InvariantBroken, invariant } from "../kit/invariant.ts";
import { closeAttempt, endAttempt } from "./end-attempt.ts";
import { countRoute } from "./fold-phase.ts";
import { reusePlace, assignPlace } from "./fold-turn.ts";
import {
  requireIdleCursor,
  type ReducersOf,
  requireOpenAttempt,
  skippedOutcome,
  requireCursor,
} from "./reducers.ts";
import { recordProviderLimit } from "./agent-switch.ts";
import { cursorSteps } from "./selectors.ts";
import { chargeRun } from "./overdraft.ts";
import { incrementValue, ownValue, setValue } from "./own-values.ts";
import type { OpenAttempt, Run, StepCursor } from "./state.ts";

type StepEventName =
  | "step_started"
  | "step_completed"
  | "step_failed"
  | "step_interrupted"
  | "attempt_settled"
  | "step_skipped"
  | "step_retried"
  | "route_taken";

export const stepReducers: ReducersOf<StepEventName> = {
  step_started: (run, event) => startAttempt(run, event),
  step_completed: (run, event) => {
    const open = requireOpenAttempt(run, event.attempt);
    if (open.kind === "agent" && open.stage === "started") {
      throw new InvariantBroken(`F1: ${event.attempt} passes only after its turn`);
    }

    endAttempt(run, open, event, "passed");
  },
  step_failed: (run, event) =>
    endAttempt(run, requireOpenAttempt(run, event.attempt), event, "failed"),
  step_interrupted: (run, event) => interruptAttempt(run, event),
  attempt_settled: (run, event) => recoverAttempt(run, event),
  step_skipped: (run, { walk: path, step }) => {
    const cursor = requireIdleCursor(run, path);
    cursor.at = stepIndex(run, cursor, step);
    if (cursor.reply !== null) cursor.left_out = [...new Set([...(cursor.left_out ?? []), step])];
    cursor.reply = null;
    setValue(cursor.last, step, skippedOutcome());
    setValue(cursor.streak, step, 0);
  },
  step_retried: (run, { walk: path, step, reset, put_back }) => {
    const cursor = requireIdleCursor(run, path);
    delete cursor.last[step];
    cursor.reply = null;
    if (put_back === true) cursor.putBack = true;
    if (cursor.answeredTests !== undefined) delete cursor.answeredTests;
    if (reset === true) setValue(cursor.streak, step, 0);
    else run.retries++;
  },
  route_taken: (run, event) => takeRoute(run, event),
};

function startAttempt(
  run: Run,
  { walk: path, step: id, attempt, kind, need }: EventOf<"step_started">,
): void {
  const cursor = requireIdleCursor(run, path); // F2
  const position = stepIndex(run, cursor, id);
  const step = cursorSteps(run, cursor)[position];
  const ordinal = (ownValue(cursor.ended, id) ?? 0) + 1;

  // Not `invariant`: its message would be built for every attempt.
  if (step === undefined || stepKind(step) !== kind) {
    throw new InvariantBroken(`F1: ${id} is a step of kind ${kind}`);
  }

  if (attempt !== attemptName(cursor, id, ordinal)) {
    throw new InvariantBroken(`F1: ${attempt} is the next attempt of its step`);
  }

  const open: OpenAttempt = {
    attempt,
    cursor: path,
    step: id,
    kind,
    stage: kind === "tasks" ? "reading" : "started",
    opening: run.opening,
    crashes: 0,
    need: need ?? null,
    role: step.agent ?? null,
    session: cursor.left?.attempt === attempt ? cursor.left.session : null,
    says: {},
    turn: null,
    commit: null,
    tree: null,
    paths: [],
    waves: [],
    after: {},
    left: [],
    ...(run.notes === undefined || kind !== "agent"
      ? {}
      : { noted: run.notes.map(({ request }) => request) }),
  };
  run.open[attempt] = open;
  cursor.open = attempt;
  cursor.at = position;
  delete cursor.last[id];
  incrementValue(cursor.tries, attempt);
  assignPlace(run, open, ordinal);
}

function interruptAttempt(run: Run, event: EventOf<"step_interrupted"> & Envelope): void {
  const { attempt, by, detail = "" } = event;
  const open = requireOpenAttempt(run, attempt);
  const cursor = requireCursor(run, open.cursor);
  chargeRun(run, cursor.phase, event.usage);
  open.need = null;

  const isViolation = by === "scope" || by === "secret";
  if (isViolation) recordViolation(run, event);

  const hold = holdAfter(run, event, ownValue(cursor.tries, attempt) ?? 0);
  run.hold = hold ?? run.hold;
  if (hold !== null) run.heldBy = { reason: hold, by, detail };
  if (by === "provider") recordParking(run, event, open.role);
  if (open.session !== null && !isViolation) cursor.left = { attempt, session: open.session };

  // Paid work is kept: an attempt that was cancelled after its turn continues from there, and is
  // settled like one a crash left.
  const hasTurned = open.stage === "turned" || open.stage === "applied";
  const isKept = hasTurned && (by === "operator" || by === "budget");
  if (isKept) open.opening = setAsideOpening;
  else closeAttempt(run, open);
}

function recordViolation(
  run: Run,
  { attempt, by, paths = [], detail = "" }: EventOf<"step_interrupted">,
): void {
  run.violations++;
  run.violation = { attempt, paths: [...paths], detail };
  if (by === "secret") run.violation.by = by;
}

function recoverAttempt(run: Run, { attempt, remedy, usage }: EventOf<"attempt_settled">): void {
  const open = requireOpenAttempt(run, attempt);
  invariant(open.opening !== run.opening, `F1: ${attempt} is in doubt`);
  chargeRun(run, requireCursor(run, open.cursor).phase, usage);

  if (remedy === "ask") {
    open.crashes = 0; // It stays in doubt, unchanged, until a person looks.
    run.hold = "crash_loop";
    return;
  }

  if (open.opening !== setAsideOpening) open.crashes++;
  open.opening = run.opening;
  if (remedy === "close") open.stage = "turned";
  if (remedy === "repeat") restartAttempt(run, open);
}

function takeRoute(run: Run, event: EventOf<"route_taken">): void {
  const { walk: path, step, to, because, pause, rest } = event;
  const cursor = requireIdleCursor(run, path);
  const outcome = ownValue(cursor.last, step); // read before it is dropped
  moveBack(run, cursor, to);
  countRoute(run, cursor, event);
  cursor.because = because ?? cursor.because;
  run.resting = rest ?? run.resting;
  if (pause === undefined) return;

  run.hold = pause;
  setValue(cursor.streak, to, 0); // A person has looked, so its retries start again.
  if (outcome?.kind === "failed") {
    run.heldBy = { reason: pause, by: "step", detail: describeFailure(step, outcome) };
  } else {
    delete run.heldBy;
  }
}

/** Sets the cursor to a step; outcomes at and after it are dropped. */
function moveBack(run: Run, cursor: StepCursor, to: string): void {
  cursor.at = stepIndex(run, cursor, to);
  if (cursor.lost !== undefined) delete cursor.lost;
  for (const { id } of cursorSteps(run, cursor).slice(cursor.at)) delete cursor.last[id];
}

/** The step, its reason and details: a pause has to name its cause. */
function describeFailure(step: string, { reason, detail }: Outcome): string {
  const failure = `${step} failed with ${reason ?? "no reason given"}`;
  return detail === null || detail === "" ? failure : `${failure}: ${detail}`;
}

/**
 * The opening number of an attempt that was set aside on purpose: every later opening settles it,
 * and it does not count as a crash.
 */
const setAsideOpening = 0;

export const attemptName = (
  cursor: Pick<StepCursor, "path" | "visit">,
  step: string,
  ordinal: number,
): string => `${cursor.path}@${cursor.visit}/${step}#${ordinal}`;

function stepIndex(run: Run, cursor: StepCursor, step: string): number {
  const index = cursorSteps(run, cursor).findIndex(({ id }) => id === step);
  if (index < 0) throw new InvariantBroken(`F1: ${cursor.path} has a step ${step}`);
  return index;
}

/**
 * Why nothing may begin after an interruption: what cut this attempt short would cut the next one
 * too.
 */
function holdAfter(
  run: Run,
  { by, reason_code }: EventOf<"step_interrupted">,
  tries: number,
): string | null {
  if (by === "scope") return run.violations > 1 ? "scope_violation_blocked" : null;
  if (by === "secret") return run.violations > 1 ? "secret_in_changes" : null;
  if (by === "budget") return "budget_threshold_reached";
  if (by === "agent") return tries > 1 ? reason_code : null; // one failure at its start allows one more try

  return by === "provider" ? reason_code : null;
}

/**
 * Records why and until when the provider keeps the run from working, and how often in a row.
 * Waiting for it isn't decided here.
 */
function recordParking(
  run: Run,
  event: EventOf<"step_interrupted"> & Envelope,
  role: string | null,
): void {
  const { fault = "limit", until, detail = "" } = event;
  recordProviderLimit(run, role, event, event.ts);
  const mayHandOver = role !== null && run.limited !== undefined; // a role that lists several agents is, or was, at a limit
  run.parked = {
    fault,
    until: until ?? null,
    detail,
    times: (run.parked?.times ?? 0) + 1,
    ...(mayHandOver ? { role } : {}),
  };
}

/** Begins the same attempt again: the same ordinal, another try. */
function restartAttempt(run: Run, open: OpenAttempt): void {
  incrementValue(requireCursor(run, open.cursor).tries, open.attempt);
  reusePlace(run, open.attempt);
  open.stage = open.kind === "tasks" ? "reading" : "started";
  open.need ??= open.turn?.usage ?? null;
  Object.assign(open, { says: {}, turn: null, commit: null, tree: null, paths: [] });
  if (open.heard === true) delete open.heard;
}
