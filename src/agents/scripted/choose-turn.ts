// choose-turn: which turn of a script is played now. Pure: a function of the script, the turns begun before, and this one.
//
// Invariant:
//   C1. The same script, history and facts give the same choice, in whatever process and after however many deaths: nothing is
//       remembered outside the history the runner hands over.

import type { Script, ScriptTurn, TurnFacts } from "../../contracts/script.ts";

/** The place in the script of the turn to play, or null if none is left that matches. */
export function chooseTurn(script: Script, history: readonly TurnFacts[], current: TurnFacts): number | null {
  const played = script.turns.map(() => 0);
  for (const facts of history) {
    const playedIndex = findFirstUnused(script, played, facts);
    if (playedIndex !== null) played[playedIndex] = (played[playedIndex] ?? 0) + 1;
  }
  return findFirstUnused(script, played, current);
}

function findFirstUnused(script: Script, played: readonly number[], facts: TurnFacts): number | null {
  const turnIndex = script.turns.findIndex((turn, index) => matches(turn, facts) && isLeft(turn, played[index] ?? 0));
  return turnIndex === -1 ? null : turnIndex;
}

const isLeft = ({ repeat = 1 }: ScriptTurn, played: number): boolean => repeat === 0 || played < repeat;

function matches({ when = {} }: ScriptTurn, facts: TurnFacts): boolean {
  const { phase, ...rest } = when;
  if (phase !== undefined && String(phase) !== facts.phase) return false;
  return (Object.keys(rest) as (keyof typeof rest)[]).every((key) => rest[key] === undefined || rest[key] === facts[key]);
}
