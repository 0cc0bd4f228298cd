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
export function historyOf(run: RunView, attempt: AttemptId, ask = 1): { readonly facts: TurnFacts; readonly history: readonly TurnFacts[] } {
  const at = run.turns.findLastIndex((place) => place.attempt === attempt);
  const place = run.turns[at];
  invariant(place !== undefined, `F1: ${attempt} is an agent's turn`);
  const history: TurnFacts[] = [];
  for (const earlier of run.turns.slice(0, at)) {
    for (let n = 1; n <= earlier.asks; n++) history.push(factsOf(run, earlier, n));
  }
  for (let n = 1; n < ask; n++) history.push(factsOf(run, place, n));
  return { facts: factsOf(run, place, ask), history };
}

function factsOf(run: RunView, { phase, step, role, task, ordinal }: PlaceView, ask: number): TurnFacts {
  return { flow: run.drafted.flow.flow, phase, step, role, task, attempt: ordinal, ask };
}
