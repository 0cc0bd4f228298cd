// fold-turn: reducers of the events of an agent's turn: agent switched, session opened, asked
// again, ended and applied.
// Invariants F1 and on: core/fold.ts.

import { InvariantBroken, invariant } from "../kit/invariant.ts";
import { recordLargestTurn } from "./budget.ts";
import { type ReducersOf, requireOpenAttempt, requireCursor } from "./reducers.ts";
import { chargeRun } from "./overdraft.ts";
import { ownValue, setValue } from "./own-values.ts";
import type { OpenAttempt, Run, TurnPlace } from "./state.ts";

type TurnEventName =
  | "agent_switched"
  | "session_opened"
  | "return_asked_again"
  | "turn_ended"
  | "changes_applied";

export const turnReducers: ReducersOf<TurnEventName> = {
  agent_switched: (run, { role, player }) => {
    run.drafted = { ...run.drafted, cast: { ...run.drafted.cast, [role]: player } };
    // A session belongs to its agent: no other agent continues it. Whose a session was isn't
    // recorded, so those of other roles end too.
    for (const open of Object.values(run.open)) {
      if (open.kind === "agent" && open.stage === "started") open.session = null;
    }

    for (const cursor of Object.values(run.cursors)) {
      if (cursor.left !== undefined) delete cursor.left;
      for (const outcome of [...Object.values(cursor.seen), ...Object.values(cursor.last)]) {
        const { session: _session, ...facts } = outcome.facts;
        outcome.facts = facts;
      }
    }
  },
  session_opened: (run, { attempt, session }) => {
    requireOpenAttempt(run, attempt).session = session;
  },
  return_asked_again: (run, { attempt, usage }) => {
    const open = requireOpenAttempt(run, attempt);
    invariant(open.kind === "agent" && open.stage === "started", `F1: ${attempt} is in its turn`);
    const place = findPlace(run, attempt);
    if (place !== undefined) place.asks++;
    run.retries++;
    chargeRun(run, requireCursor(run, open.cursor).phase, usage);
  },
  turn_ended: (run, event) => {
    const open = requireOpenAttempt(run, event.attempt);
    // A turn that recovery closed by its artifacts is written down after the remedy: it has the
    // stage already, and no turn yet.
    const isInTurn =
      open.kind === "agent" &&
      open.turn === null &&
      (open.stage === "started" || open.stage === "turned");
    if (!isInTurn) throw new InvariantBroken(`F1: ${event.attempt} has not ended its turn`);
    open.stage = "turned";
    open.turn = event;
    open.need = null;
    open.says =
      event.confidence === null || ownValue(event.says, "confidence") !== undefined
        ? event.says
        : { ...event.says, confidence: event.confidence };

    const cursor = requireCursor(run, open.cursor);
    if (event.claim !== undefined && event.returned === true) {
      setValue((cursor.handed ??= {}), open.step, event.claim);
    }

    if (event.answers === undefined) delete cursor.answers;
    else cursor.answers = [...event.answers];

    chargeRun(run, cursor.phase, event.usage);
    if (open.role !== null) recordLargestTurn(run.ledger, open.role, event.usage);
    const place = findPlace(run, event.attempt);
    if (place !== undefined) place.isOver = true;
  },
  changes_applied: (run, { attempt, commit, tree, paths }) => {
    const open = requireOpenAttempt(run, attempt);
    invariant(
      open.kind !== "agent" || open.stage === "turned",
      `F1: ${attempt} has ended its turn and is not applied yet`,
    );

    open.stage = "applied";
    dropReadNotes(run, open.noted);
    open.commit = commit;
    open.tree = tree;
    open.paths = [...paths];
    run.tip = { commit, tree };
  },
};

/**
 * A turn takes its position when it first begins. If it is cut short it is repeated in that
 * position; once ended, the position is used up.
 */
export function assignPlace(run: Run, open: OpenAttempt, ordinal: number): void {
  if (open.role === null) return;
  const { phase, task, tries } = requireCursor(run, open.cursor);
  // Only a second try can have a position already; searching for one that is not there would scan
  // all of them.
  const place = (ownValue(tries, open.attempt) ?? 0) > 1 ? findPlace(run, open.attempt) : undefined;
  if (place !== undefined && !place.isOver) return resetAsks(run, place);
  run.turns.push({
    attempt: open.attempt,
    phase,
    step: open.step,
    role: open.role,
    task,
    ordinal,
    asks: 1,
    isOver: false,
  });
}

/** The work of a turn was lost with its layer: it is repeated in its own position. */
export function reusePlace(run: Run, attempt: string): void {
  const place = findPlace(run, attempt);
  if (place === undefined) return;
  place.isOver = false;
  resetAsks(run, place);
}

/**
 * Repeated requests for a valid return are asked again with the lost turn, and count as retries
 * then.
 */
function resetAsks(run: Run, place: TurnPlace): void {
  run.retries -= place.asks - 1;
  place.asks = 1;
}

/** From the end, where the turns under way are. */
function findPlace(run: Run, attempt: string): TurnPlace | undefined {
  return run.turns.findLast((place) => place.attempt === attempt);
}

/**
 * An agent that changed something after reading the notes has had them: the next one doesn't get
 * them again.
 */
function dropReadNotes(run: Run, noteIds: readonly string[] = []): void {
  if (run.notes === undefined || noteIds.length === 0) return;
  run.notes = run.notes.filter(({ request }) => !noteIds.includes(request));
  if (run.notes.length === 0) delete run.notes;
}
