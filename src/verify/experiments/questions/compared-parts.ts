// compared-parts: whether tests that expect an object of one of the work's own classes notice a change in each of its parts
// (expected-parts.ts).
// Invariants N1 and on: verify/experiments/flips/needed-test-files.ts.

import { isProgramText } from "../../protected/kinds.ts";
import { findDecidingTests, findOmittableTests } from "../flips/candidates.ts";
import { createNonce } from "../flips/choose-flips.ts";
import { typesDefinedIn, partFlips, describeUncomparedParts } from "../flips/expected-parts.ts";
import { withFlips, type Flip } from "../flips/literal-flips.ts";
import { noticedBy } from "../flips/noticed-flips.ts";
import type { Edit } from "../experiment-tools.ts";
import { type QuestionContext, readSources } from "./question-context.ts";

const roundsMax = 4;
const whether = "its tests compare all parts of what they expect";

export async function findUncomparedParts(context: QuestionContext): Promise<string | null> {
  const { check, lab, runWith } = context;
  const classes = new Set((await readSources(context)).flatMap(({ path, is }) => (isProgramText(path) ? typesDefinedIn(is) : [])));
  if (classes.size === 0) return null;
  const { tests, textOf } = await findDecidingTests(check, lab);
  const texts = new Map([...new Set(tests.map(({ test }) => test.path))].map((path) => [path, textOf(path)]));
  const all = [...texts].flatMap(([path, text]) => partFlips(path, text, classes, createNonce(lab.seed)));
  const testParts = tests.flatMap(({ test }) => {
    const parts = all.find(
      ([first]) => first !== undefined && first.path === test.path && test.from <= first.line && first.line <= test.to,
    );
    return parts === undefined ? [] : [{ test, parts }];
  });
  if (testParts.length === 0) return null;
  const { omitted } = await findOmittableTests(check, lab);
  const runAndFindMissed = async (flips: readonly Flip[], without: readonly string[]): Promise<readonly Flip[]> => {
    const edits = [...texts].flatMap(([path, text]): readonly Edit[] => {
      const here = flips.filter((flip) => flip.path === path);
      const edited = here.length === 0 ? null : withFlips(text, here);
      return edited === null ? [] : [{ path, text: edited }];
    });
    const observed = edits.length === 0 ? null : await runWith(whether, { edits, without });
    if (observed === null) return [];
    const { missed, unread } = noticedBy(flips, lab.now, observed, texts);
    return missed.filter((flip) => !unread.includes(flip));
  };
  const silent = new Set<string>();
  for (let round = 0; round < roundsMax; round += 1) {
    const flips = testParts.flatMap(({ parts }) => parts[round] ?? []);
    const open = flips.length === 0 ? [] : await runAndFindMissed(flips, omitted);
    const missed = open.length === 0 ? [] : await runAndFindMissed(open, []); // N1
    for (const { test, parts } of testParts) if (parts.some((flip) => missed.includes(flip))) silent.add(test.name);
  }
  return silent.size === 0 ? null : describeUncomparedParts([...silent], [...classes]);
}
