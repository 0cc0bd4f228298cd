// shared-runs: lets questions whose good answer is a pass share one run of the check.
// Invariants Q1 and on: verify/experiments/questions/table.ts.

import type { CheckoutChange, QuestionContext, RaisedQuestion } from "./question-context.ts";

/** The questions that one run with all their changes does not answer (Q2). */
export async function findUnanswered<Raised extends RaisedQuestion>(
  {
    announce,
    runWith,
    lab,
  }: Pick<QuestionContext, "announce" | "runWith"> & {
    readonly lab: Pick<QuestionContext["lab"], "now">;
  },
  raised: readonly Raised[],
): Promise<readonly Raised[]> {
  const shared: Raised[] = [];
  const usedPaths = new Set<string>();

  for (const question of raised) {
    const paths = changedPaths(question.change);
    if (paths.some((path) => usedPaths.has(path))) continue;
    for (const path of paths) usedPaths.add(path);
    shared.push(question);
  }

  if (shared.length < 2) return raised;
  const all = <T>(pick: (change: CheckoutChange) => readonly T[] | undefined): readonly T[] =>
    shared.flatMap(({ change }) => pick(change) ?? []);
  announce("does it pass with all of that as before?");

  const observed = await runWith(null, {
    edits: all(({ edits }) => edits),
    paths: all(({ paths }) => paths),
    without: all(({ without }) => without),
  });
  const isAnswer =
    observed?.passed === true && (observed.tests?.ran ?? 0) >= (lab.now.tests?.ran ?? 0);
  return isAnswer ? raised.filter((question) => !shared.includes(question)) : raised;
}

const changedPaths = ({
  edits = [],
  paths = [],
  without = [],
}: CheckoutChange): readonly string[] => [...edits.map(({ path }) => path), ...paths, ...without];
