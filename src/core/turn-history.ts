// turn-history: lists the facts of a turn and of the turns before it, in the order in which they
// first began.

import type { AttemptId } from "../contracts/ids.ts";
import type { TurnFacts } from "../contracts/script.ts";
import { invariant } from "../kit/invariant.ts";
import type { RunView } from "./state.ts";

type TurnView = RunView["turns"][number];

/**
 * The facts of an attempt's turn, and those of the turns in the positions before it.
 * A position is assigned when a turn first begins. Turns that ended are listed ask by ask, turns
 * still under way as far as they have come, and of the turn itself the asks before this one.
 */
export function buildTurnHistory(
  run: RunView,
  attempt: AttemptId,
  ask = 1,
): { readonly facts: TurnFacts; readonly history: readonly TurnFacts[] } {
  const position = run.turns.findLastIndex((turn) => turn.attempt === attempt);
  const turn = run.turns[position];
  invariant(turn !== undefined, `${attempt} is an agent's turn`);
  const firsts = firstTurns(run, position);
  // In the common case every turn was asked once, and nothing is repeated.
  const areEarlierAskedOnce = run.turns.every(({ asks }, index) => asks === 1 || index >= position);
  const history = areEarlierAskedOnce
    ? firsts.slice(0, position)
    : firsts.slice(0, position).flatMap((first, index) => repeatAsks(run, first, index));
  for (let n = 1; n < ask; n++) history.push(turnFacts(run, turn, n));

  return { facts: turnFacts(run, turn, ask), history };
}

/** The turn in a position, ask by ask. */
function repeatAsks({ turns }: RunView, first: TurnFacts, index: number): readonly TurnFacts[] {
  return Array.from({ length: turns[index]?.asks ?? 1 }, (_, n) =>
    n === 0 ? first : { ...first, ask: n + 1 },
  );
}

/**
 * The first ask of each position, built once: every history names the same turns again, and a
 * position is never reused.
 */
const firstTurnsCache = new WeakMap<RunView["turns"], TurnFacts[]>();

/** The first asks of the turns before this position, and perhaps of later ones. */
function firstTurns(run: RunView, position: number): readonly TurnFacts[] {
  let firsts = firstTurnsCache.get(run.turns);
  if (firsts === undefined) firstTurnsCache.set(run.turns, (firsts = []));
  for (const turn of firsts.length < position ? run.turns.slice(firsts.length, position) : []) {
    firsts.push(turnFacts(run, turn, 1));
  }

  return firsts;
}

function turnFacts(
  run: RunView,
  { phase, step, role, task, ordinal }: TurnView,
  ask: number,
): TurnFacts {
  return { flow: run.drafted.flow.flow, phase, step, role, task, attempt: ordinal, ask };
}
