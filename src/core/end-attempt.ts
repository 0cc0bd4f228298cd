// end-attempt: records how an attempt of a step ended: its outcome, what it proved and judged, and
// what its errors mean for the breaker.
// Invariants F1 and on: core/fold.ts.

import type { Envelope, EventOf } from "../contracts/event.ts";
import type { Outcome } from "../contracts/outcome.ts";
import { countError, countOutcome } from "./breaker.ts";
import { recordCheckResults } from "./fold-proof.ts";
import { chargeRun } from "./overdraft.ts";
import { incrementValue, ownValue, setValue } from "./own-values.ts";
import { requireCursor } from "./reducers.ts";
import { cursorSteps, taskPath, wavePath } from "./selectors.ts";
import type { OpenAttempt, Run, StepCursor } from "./state.ts";
import { isVerdict, splitGaps } from "./verdict.ts";

/**
 * Trees kept per phase to tell progress from going in circles; beyond that the older half is
 * forgotten.
 */
const treesMax = 1_000;
/** Paths kept per step whose proof is still missing. */
const unprovedPathsMax = 1_000;

type EndEvent = (EventOf<"step_completed"> | EventOf<"step_failed">) & Envelope;
type OutcomeKind = "passed" | "failed";

/** Records the outcome of an attempt at its cursor and closes the attempt. */
export function endAttempt(run: Run, open: OpenAttempt, event: EndEvent, kind: OutcomeKind): void {
  const cursor = requireCursor(run, open.cursor);
  chargeRun(run, cursor.phase, event.usage);
  if ("locks" in event && event.locks !== undefined) cursor.checks = event.locks;
  recordOutcome(cursor, open, event, kind);

  recordCheckResults(run, event.checks ?? []);
  recordProof(run, cursor, open, event);
  recordVerdict(run, `${cursor.path}/${open.step}`, open.kind, event);
  countForBreaker(run, cursor, open, { event, kind });

  forgetInterruption(run, cursor, open);
  recordChild(cursor, event);
  closeAttempt(run, open);
}

function recordOutcome(
  cursor: StepCursor,
  { step, says, session }: OpenAttempt,
  event: EndEvent,
  kind: OutcomeKind,
): void {
  const outcome: Outcome = {
    kind,
    facts: session === null ? event.facts : { ...event.facts, session },
    says,
    reason: event.reason_code,
    detail: event.detail ?? null,
    checks: event.checks ?? [],
  };
  setValue(cursor.last, step, outcome);
  setValue(cursor.seen, step, outcome);
  incrementValue(cursor.ended, step);

  if (kind === "failed") incrementValue(cursor.streak, step);
  else recordPass(cursor, step);
}

/** A step that passed has no failures in a row, and is no longer left out. */
function recordPass(cursor: StepCursor, step: string): void {
  setValue(cursor.streak, step, 0);
  if (cursor.left_out === undefined) return;
  cursor.left_out = cursor.left_out.filter((leftOut) => leftOut !== step);
}

/**
 * Records the result of a step's own proof: that it held, which artifacts have no content, and what
 * is still to be proved.
 */
function recordProof(run: Run, cursor: StepCursor, open: OpenAttempt, event: EndEvent): void {
  const step = cursorSteps(run, cursor).find(({ id }) => id === open.step);
  if ((step?.proof?.length ?? 0) === 0) return;

  if (event.event === "step_failed") {
    if (open.paths.length > 0) recordUnproved(cursor, open);
    return;
  }

  if (cursor.unproved !== undefined) delete cursor.unproved[open.step];
  run.gated = (run.gated ?? 0) + 1;

  for (const { file, why } of event.hollow ?? []) {
    if (why !== null) setValue((run.hollow ??= {}), file, why);
    else if (run.hollow !== undefined) delete run.hollow[file];
  }
}

/** Adds the paths of an attempt whose proof failed to those that are still to be proved. */
function recordUnproved(cursor: StepCursor, { step, paths }: OpenAttempt): void {
  cursor.unproved ??= {};
  const unprovedPaths = new Set([...(ownValue(cursor.unproved, step) ?? []), ...paths]);
  setValue(cursor.unproved, step, [...unprovedPaths].slice(0, unprovedPathsMax));
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

/** An agent's outcomes count for the breaker, and the errors of a step that sends work back. */
function countForBreaker(
  run: Run,
  cursor: StepCursor,
  { step, kind: stepKind }: OpenAttempt,
  { event, kind }: { readonly event: EndEvent; readonly kind: OutcomeKind },
): void {
  const counted = {
    step,
    kind,
    fingerprint: "fingerprint" in event ? event.fingerprint : null,
    cause: { reason: event.reason_code, detail: event.detail ?? "" },
  } as const;

  if (stepKind === "agent") {
    addTree(run, cursor.phase, event.tree);
    countOutcome(run.breaker, { ...counted, progress: event.progress });
  } else if (sendsBack(run, cursor, step)) {
    countError(run.breaker, counted);
  }
}

function addTree(run: Run, phase: string, tree: string | undefined): void {
  const trees = ownValue(run.trees, phase);
  if (tree === undefined || trees === undefined || trees.at(-1) === tree) return;
  trees.push(tree);
  if (trees.length > treesMax) trees.splice(0, treesMax / 2);
}

/**
 * Whether the flow counts the way back from a failure of this step as a retry: then its errors
 * count for the breaker.
 */
function sendsBack(run: Run, cursor: StepCursor, id: string): boolean {
  const { counts = {} } = run.drafted.flow;
  const step = cursorSteps(run, cursor).find((candidate) => candidate.id === id);
  const countNames = (step?.otherwise ?? []).flatMap(({ count }) => count ?? []);
  return countNames.some((name) => ownValue(counts, name)?.retry === true);
}

/**
 * What an earlier interruption left holds no longer. Fields are deleted only if they are set:
 * deleting an absent one costs as much.
 */
function forgetInterruption(run: Run, cursor: StepCursor, { attempt, kind }: OpenAttempt): void {
  if (run.violation?.attempt === attempt) run.violation = null;
  if (kind === "agent" && run.parked !== undefined) delete run.parked; // the provider answers again
  if (cursor.left !== undefined) delete cursor.left;
  if (cursor.putBack !== undefined) delete cursor.putBack; // there was nothing to put back
}

/** The child run that the attempt asks for; an attempt without one ends an earlier one's. */
function recordChild(cursor: StepCursor, event: EndEvent): void {
  if ("asks" in event && event.asks !== undefined) cursor.child = { ...event.asks };
  else if (cursor.child !== undefined) delete cursor.child;
}

/**
 * Removes the attempt and the cursors of its tasks; what counts of them is in its outcome's facts.
 */
export function closeAttempt(run: Run, open: OpenAttempt): void {
  requireCursor(run, open.cursor).open = null;
  delete run.open[open.attempt];

  for (const [index, wave] of open.waves.entries()) {
    delete run.cursors[wavePath(open.attempt, index)];
    for (const task of wave) delete run.cursors[taskPath(open.attempt, task)];
  }
}
