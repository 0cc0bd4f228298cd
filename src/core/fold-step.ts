// fold-step: reducers of step events: started, completed, failed, interrupted, settled, skipped,
// retried and routed.
// Invariants F1 and on: core/fold.ts.

import type { Envelope, EventOf } from "../contracts/event.ts";
import { isVerdict, splitGaps } from "./verdict.ts";
import { stepKind } from "../contracts/flow.ts";
import type { Outcome } from "../contracts/outcome.ts";
import { InvariantBroken, invariant } from "../kit/invariant.ts";
import { countError, countOutcome } from "./breaker.ts";
import { countRoute } from "./fold-phase.ts";
import { recordCheckResults } from "./fold-proof.ts";
import { reusePlace, assignPlace } from "./fold-turn.ts";
import {
  findIdleCursor,
  type ReducersOf,
  findOpen,
  skippedOutcome,
  findCursor,
} from "./reducers.ts";
import { recordProviderLimit } from "./agent-switch.ts";
import { cursorSteps, taskPath, wavePath } from "./selectors.ts";
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

/**
 * Trees kept per phase to tell progress from going in circles; beyond that the older half is
 * forgotten.
 */
const treesMax = 1_000;

export const stepReducers: ReducersOf<StepEventName> = {
  step_started: (run, { walk: path, step: id, attempt, kind, need }) => {
    const cursor = findIdleCursor(run, path); // F2
    const stepPosition = stepIndex(run, cursor, id);
    const step = cursorSteps(run, cursor)[stepPosition];
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
    cursor.at = stepPosition;
    delete cursor.last[id];
    incrementValue(cursor.tries, attempt);
    assignPlace(run, open, ordinal);
  },
  step_completed: (run, event) => {
    const open = findOpen(run, event.attempt);
    if (open.kind === "agent" && open.stage === "started") {
      throw new InvariantBroken(`F1: ${event.attempt} passes only after its turn`);
    }

    endAttempt(run, open, event, "passed");
  },
  step_failed: (run, event) => {
    endAttempt(run, findOpen(run, event.attempt), event, "failed");
  },
  step_interrupted: (run, event) => {
    const open = findOpen(run, event.attempt);
    const cursor = findCursor(run, open.cursor);
    chargeRun(run, cursor.phase, event.usage);
    open.need = null;
    const isViolation = event.by === "scope" || event.by === "secret";
    if (isViolation) {
      run.violations++;
      run.violation = {
        attempt: event.attempt,
        paths: [...(event.paths ?? [])],
        detail: event.detail ?? "",
      };

      if (event.by === "secret") run.violation.by = event.by;
    }

    const hold = holdAfter(run, event, ownValue(cursor.tries, event.attempt) ?? 0);
    run.hold = hold ?? run.hold;
    if (hold !== null) run.heldBy = { reason: hold, by: event.by, detail: event.detail ?? "" };
    if (event.by === "provider") recordParking(run, event, open.role);
    if (open.session !== null && !isViolation) {
      cursor.left = { attempt: event.attempt, session: open.session };
    }

    // Paid work is kept: an attempt that was cancelled after its turn continues from there, and is
    // settled like one a crash left.
    const isKept =
      (event.by === "operator" || event.by === "budget") &&
      (open.stage === "turned" || open.stage === "applied");
    if (isKept) open.opening = setAsideOpening;
    else closeAttempt(run, open);
  },
  attempt_settled: (run, { attempt, remedy, usage }) => {
    const open = findOpen(run, attempt);
    invariant(open.opening !== run.opening, `F1: ${attempt} is in doubt`);
    chargeRun(run, findCursor(run, open.cursor).phase, usage);

    if (remedy === "ask") {
      open.crashes = 0; // It stays in doubt, unchanged, until a person looks.
      run.hold = "crash_loop";
      return;
    }

    if (open.opening !== setAsideOpening) open.crashes++;
    open.opening = run.opening;
    if (remedy === "close") open.stage = "turned";
    if (remedy === "repeat") restartAttempt(run, open);
  },
  step_skipped: (run, { walk: path, step }) => {
    const cursor = findIdleCursor(run, path);
    cursor.at = stepIndex(run, cursor, step);
    if (cursor.reply !== null) cursor.left_out = [...new Set([...(cursor.left_out ?? []), step])];
    cursor.reply = null;
    setValue(cursor.last, step, skippedOutcome());
    setValue(cursor.streak, step, 0);
  },
  step_retried: (run, { walk: path, step, reset, put_back }) => {
    const cursor = findIdleCursor(run, path);
    delete cursor.last[step];
    cursor.reply = null;
    if (put_back === true) cursor.putBack = true;
    if (cursor.answeredTests !== undefined) delete cursor.answeredTests;
    if (reset === true) setValue(cursor.streak, step, 0);
    else run.retries++;
  },
  route_taken: (run, { walk: path, step, to, count, per, retry, because, pause, rest }) => {
    const cursor = findIdleCursor(run, path);
    const steps = cursorSteps(run, cursor);
    const failed = pause === undefined ? undefined : ownValue(cursor.last, step);
    cursor.at = stepIndex(run, cursor, to);
    if (cursor.lost !== undefined) delete cursor.lost;
    for (const { id } of steps.slice(cursor.at)) delete cursor.last[id]; // Outcomes at and after the target are dropped.
    countRoute(run, cursor, { count, per, retry });
    cursor.because = because ?? cursor.because;
    run.hold = pause ?? run.hold;

    if (pause !== undefined && failed?.kind === "failed") {
      run.heldBy = { reason: pause, by: "step", detail: describeFailure(step, failed) };
    } else if (pause !== undefined) {
      delete run.heldBy;
    }

    run.resting = rest ?? run.resting;
    if (pause !== undefined) setValue(cursor.streak, to, 0); // A person has looked, so its retries start again.
  },
};

/** The step, its reason and details: a pause has to name its cause. */
const describeFailure = (step: string, { reason, detail }: Outcome): string =>
  `${step} failed with ${reason ?? "no reason given"}${detail === null || detail === "" ? "" : `: ${detail}`}`;

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
  incrementValue(findCursor(run, open.cursor).tries, open.attempt);
  reusePlace(run, open.attempt);
  open.stage = open.kind === "tasks" ? "reading" : "started";
  open.need ??= open.turn?.usage ?? null;
  Object.assign(open, { says: {}, turn: null, commit: null, tree: null, paths: [] });
  if (open.heard === true) delete open.heard;
}

type EndEvent = (EventOf<"step_completed"> | EventOf<"step_failed">) & Envelope;

/** Records the outcome of an attempt at its cursor and closes the attempt. */
function endAttempt(run: Run, open: OpenAttempt, event: EndEvent, kind: "passed" | "failed"): void {
  const cursor = findCursor(run, open.cursor);
  const facts = open.session === null ? event.facts : { ...event.facts, session: open.session };

  const outcome: Outcome = {
    kind,
    facts,
    says: open.says,
    reason: event.reason_code,
    detail: event.detail ?? null,
    checks: event.checks ?? [],
  };

  chargeRun(run, cursor.phase, event.usage);
  if ("locks" in event && event.locks !== undefined) cursor.checks = event.locks;
  setValue(cursor.last, open.step, outcome);
  setValue(cursor.seen, open.step, outcome);
  incrementValue(cursor.ended, open.step);

  if (kind === "passed" && cursor.left_out !== undefined) {
    cursor.left_out = cursor.left_out.filter((step) => step !== open.step);
  }

  setValue(
    cursor.streak,
    open.step,
    kind === "failed" ? (ownValue(cursor.streak, open.step) ?? 0) + 1 : 0,
  );

  recordCheckResults(run, event.checks ?? []);
  recordProof(run, cursor, open, event);
  recordVerdict(run, `${cursor.path}/${open.step}`, open.kind, event);
  const fingerprint = "fingerprint" in event ? event.fingerprint : null;

  const counted = {
    step: open.step,
    kind,
    fingerprint,
    cause: { reason: event.reason_code, detail: event.detail ?? "" },
  } as const;

  if (open.kind === "agent") {
    addTree(run, cursor.phase, event.tree);
    countOutcome(run.breaker, { ...counted, progress: event.progress });
  } else if (sendsBack(run, cursor, open.step)) {
    countError(run.breaker, counted);
  }

  if (run.violation?.attempt === open.attempt) run.violation = null;
  // A turn came to its end, so the provider answers again. Fields are deleted only if they are set:
  // deleting an absent one costs as much.
  if (open.kind === "agent" && run.parked !== undefined) delete run.parked;
  if (cursor.left !== undefined) delete cursor.left;
  if (cursor.putBack !== undefined) delete cursor.putBack; // there was nothing to put back
  if ("asks" in event && event.asks !== undefined) cursor.child = { ...event.asks };
  else if (cursor.child !== undefined) delete cursor.child;

  closeAttempt(run, open);
}

/**
 * Records the verdict in a step's facts. A child run judges its own work alone: its result bounds
 * this run's verdict, and is not it.
 */
function recordVerdict(
  run: Run,
  step: string,
  kind: OpenAttempt["kind"],
  { event, facts: { verdict, gaps } }: EndEvent,
): void {
  if (!isVerdict(verdict)) return;
  if (kind !== "flow") run.judged = { verdict, gaps: splitGaps(gaps) };
  else if (event === "step_completed") setValue((run.called ??= {}), step, verdict);
}

/**
 * Whether the flow counts the way back from a failure of this step as a retry: then its errors
 * count for the breaker.
 */
function sendsBack(run: Run, cursor: StepCursor, id: string): boolean {
  const { counts = {} } = run.drafted.flow;
  const step = cursorSteps(run, cursor).find((candidate) => candidate.id === id);
  return (step?.otherwise ?? []).some(
    ({ count }) => count !== undefined && ownValue(counts, count)?.retry === true,
  );
}

const unprovedMax = 1_000;

/**
 * Records the result of a step's own proof: that it held, which artifacts have no content, and what
 * is still to be proved.
 */
function recordProof(run: Run, cursor: StepCursor, open: OpenAttempt, event: EndEvent): void {
  const step = cursorSteps(run, cursor).find(({ id }) => id === open.step);
  if ((step?.proof?.length ?? 0) === 0) return;
  if (event.event === "step_failed") {
    if (open.paths.length === 0) return;
    const unprovedBefore = ownValue(cursor.unproved ?? {}, open.step) ?? [];
    setValue(
      (cursor.unproved ??= {}),
      open.step,
      [...new Set([...unprovedBefore, ...open.paths])].slice(0, unprovedMax),
    );

    return;
  }

  if (cursor.unproved !== undefined) delete cursor.unproved[open.step];
  run.gated = (run.gated ?? 0) + 1;

  for (const { file, why } of "hollow" in event ? (event.hollow ?? []) : []) {
    if (why !== null) setValue((run.hollow ??= {}), file, why);
    else if (run.hollow !== undefined) delete run.hollow[file];
  }
}

function addTree(run: Run, phase: string, tree: string | undefined): void {
  const trees = ownValue(run.trees, phase);
  if (tree === undefined || trees === undefined || trees.at(-1) === tree) return;
  trees.push(tree);
  if (trees.length > treesMax) trees.splice(0, treesMax / 2);
}

/**
 * Removes the attempt and the cursors of its tasks; what counts of them is in its outcome's facts.
 */
function closeAttempt(run: Run, open: OpenAttempt): void {
  findCursor(run, open.cursor).open = null;
  delete run.open[open.attempt];

  for (const [index, wave] of open.waves.entries()) {
    delete run.cursors[wavePath(open.attempt, index)];
    for (const task of wave) delete run.cursors[taskPath(open.attempt, task)];
  }
}
