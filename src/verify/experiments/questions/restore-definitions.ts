// restore-definitions: asks whether a pass depends on changed definitions by which tests compare
// (comparison-definitions.ts): the check is run with the base's definitions.
// Invariants C1 and on: verify/experiments/questions/comparison-definitions.ts.

import { isProgramText } from "../../protected/kinds.ts";
import {
  type QuestionContext,
  readChanged,
  isJudging,
  readTests,
  type RaisedQuestion,
} from "./question-context.ts";
import { findComparers, describeComparers, listDefinitions } from "./comparison-definitions.ts";

/** Null if tests compare with nothing that the work changed. */
export async function askComparersAsBefore(
  context: QuestionContext,
): Promise<RaisedQuestion | null> {
  const changed = await readChanged(
    context,
    (path) => isProgramText(path) && !isJudging(context, path),
  );
  if (changed.every(({ was }) => was === null)) return null;
  const comparers = findComparers(
    changed,
    await readTests(context, (path) => isJudging(context, path)),
  );
  if (comparers === null) return null;
  const { definitions, edits, controls } = comparers;
  const whether = `it passes with ${listDefinitions(definitions)} as before the work`;
  const confirmed = async (): Promise<boolean> =>
    (await context.runWith(whether, { edits: [...edits, ...controls] }))?.passed === true; // C2

  return { whether, change: { edits }, gap: describeComparers(definitions), confirmed };
}
