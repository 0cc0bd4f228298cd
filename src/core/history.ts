import type { AttemptId } from "../contracts/ids.ts";
import type { TurnFacts } from "../contracts/script.ts";
import { invariant } from "../kit/invariant.ts";
import type { RunView } from "./state.ts";

type PlaceView = RunView["turns"][number];

/**
 * The facts of an attempt's turn, and those of the turns in the places before it.
 * A place is where a turn first began. Turns that ended are listed ask by ask, turns still under way as far as they have come,
 * and of the turn itself the asks before this one.
 */
export function historyOf(
  run: RunView,
  attempt: AttemptId,
  ask = 1,
): { readonly facts: TurnFacts; readonly history: readonly TurnFacts[] } {
  const at = run.turns.findLastIndex((place) => place.attempt === attempt);
  const place = run.turns[at];
  invariant(place !== undefined, `F1: ${attempt} is an agent's turn`);
  const firsts = firstsOf(run);
  const history: TurnFacts[] = [];
  for (let index = 0; index < at; index++) {
    const earlier = run.turns[index] ?? place;
    history.push((firsts[index] ??= factsOf(run, earlier, 1)));
    for (let n = 2; n <= earlier.asks; n++) history.push(factsOf(run, earlier, n));
  }
  for (let n = 1; n < ask; n++) history.push(factsOf(run, place, n));
  return { facts: factsOf(run, place, ask), history };
}

/** The first ask of each place, made once: every history names the same turns again, and nobody else ever plays in a place. */
const known = new WeakMap<RunView["turns"], TurnFacts[]>();

function firstsOf({ turns }: RunView): TurnFacts[] {
  const firsts = known.get(turns) ?? [];
  known.set(turns, firsts);
  return firsts;
}

function factsOf(run: RunView, { phase, step, role, task, ordinal }: PlaceView, ask: number): TurnFacts {
  return { flow: run.drafted.flow.flow, phase, step, role, task, attempt: ordinal, ask };
}
