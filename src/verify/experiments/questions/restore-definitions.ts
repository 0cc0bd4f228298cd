// restore-definitions: whether a pass depends on changed definitions that tests compare with (comparison-definitions.ts), decided by restoring the base's
// definitions and running the check again.
// Invariants C1 and on: verify/experiments/questions/comparison-definitions.ts.

import { isProgramText } from "../../protected/kinds.ts";
import { type Asking, changedIn, isJudging, testsIn, type Raised } from "./asking.ts";
import { comparersIn, comparersWords, namesOf } from "./comparison-definitions.ts";

/** Null if tests compare with nothing that the work changed. */
export async function comparersAsBefore(asking: Asking): Promise<Raised | null> {
  const changed = await changedIn(asking, (path) => isProgramText(path) && !isJudging(asking, path));
  if (changed.every(({ was }) => was === null)) return null;
  const found = comparersIn(changed, await testsIn(asking, (path) => isJudging(asking, path)));
  if (found === null) return null;
  const { definitions, edits, controls } = found;
  const whether = `it passes with ${namesOf(definitions)} as before the work`;
  const confirmed = async (): Promise<boolean> => (await asking.ask(whether, { edits: [...edits, ...controls] }))?.passed === true; // C2
  return { whether, change: { edits }, gap: comparersWords(definitions), confirmed };
}
