// choose-turn: chooses which turn of a script to play now. Pure: a function of the script, the
// turns begun before, and this one.
//
// Invariant:
//   C1. The same script, history and facts give the same choice, in whatever process and after
//       however many crashes: nothing is remembered outside the history that the runner passes.

import type { Script, ScriptTurn, TurnFacts } from "../../contracts/script.ts";

/** The index of the turn to play; null if no matching one is left. */
export function chooseTurn(
  script: Script,
  history: readonly TurnFacts[],
  current: TurnFacts,
): number | null {
  const played = script.turns.map(() => 0);
  for (const facts of history) {
    const playedIndex = findFirstUnused(script, played, facts);
    if (playedIndex !== null) played[playedIndex] = (played[playedIndex] ?? 0) + 1;
  }

  return findFirstUnused(script, played, current);
}

function findFirstUnused(
  script: Script,
  played: readonly number[],
  facts: TurnFacts,
): number | null {
  const turnIndex = script.turns.findIndex(
    (turn, index) => matches(turn, facts) && isLeft(turn, played[index] ?? 0),
  );
  return turnIndex === -1 ? null : turnIndex;
}

const isLeft = ({ repeat = 1 }: ScriptTurn, played: number): boolean =>
  repeat === 0 || played < repeat;

function matches({ when = {} }: ScriptTurn, facts: TurnFacts): boolean {
  const { phase, ...conditions } = when;
  if (phase !== undefined && String(phase) !== facts.phase) return false;
  const keys = Object.keys(conditions) as (keyof typeof conditions)[];

  return keys.every((key) => conditions[key] === undefined || conditions[key] === facts[key]);
}
