// choose: which turn of a script is played now. Pure: a function of the script, the turns begun before, and this one.
//
// Invariant:
//   C1. The same script, history and facts give the same choice, in whatever process and after however many deaths: nothing is
//       remembered outside the history the runner hands over.

import type { Script, ScriptTurn, TurnFacts } from "../../contracts/script.ts";

/** The place in the script of the turn to play, or null if none is left that matches. */
export function choose(script: Script, history: readonly TurnFacts[], me: TurnFacts): number | null {
  const played = script.turns.map(() => 0);
  for (const facts of history) {
    const used = firstUnused(script, played, facts);
    if (used !== null) played[used] = (played[used] ?? 0) + 1;
  }
  return firstUnused(script, played, me);
}

function firstUnused(script: Script, played: readonly number[], facts: TurnFacts): number | null {
  const found = script.turns.findIndex((turn, index) => matches(turn, facts) && isLeft(turn, played[index] ?? 0));
  return found === -1 ? null : found;
}

const isLeft = ({ repeat = 1 }: ScriptTurn, played: number): boolean => repeat === 0 || played < repeat;

function matches({ when = {} }: ScriptTurn, facts: TurnFacts): boolean {
  const { phase, ...rest } = when;
  if (phase !== undefined && String(phase) !== facts.phase) return false;
  return (Object.keys(rest) as (keyof typeof rest)[]).every((key) => rest[key] === undefined || rest[key] === facts[key]);
}
