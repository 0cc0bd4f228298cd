// compared-parts: finds tests that expect an object of one of the work's own classes and don't
// notice when a part of it is wrong (expected-parts.ts).

import { isProgramText } from "../../protected/kinds.ts";
import { findDecidingTests, findOmittableTests } from "../flips/candidates.ts";
import { createNonce } from "../flips/choose-flips.ts";
import {
  findDefinedTypes,
  createPartFlips,
  describeUncomparedParts,
} from "../flips/expected-parts.ts";
import { applyFlips, type Flip } from "../flips/literal-flips.ts";
import { findNoticedFlips } from "../flips/noticed-flips.ts";
import type { Edit } from "../lab.ts";
import { type QuestionContext, readSources } from "./question-context.ts";

const roundsMax = 4;
const whether = "its tests compare all parts of what they expect";

export async function findUncomparedParts(context: QuestionContext): Promise<string | null> {
  const { check, lab, runWith } = context;
  const classes = new Set(
    (await readSources(context)).flatMap(({ path, is }) =>
      isProgramText(path) ? findDefinedTypes(is) : [],
    ),
  );
  if (classes.size === 0) return null;
  const { tests, textOf } = await findDecidingTests(check, lab);
  const texts = new Map(
    [...new Set(tests.map(({ test }) => test.path))].map((path) => [path, textOf(path)]),
  );
  const all = [...texts].flatMap(([path, text]) =>
    createPartFlips(path, text, classes, createNonce(lab.seed)),
  );

  const testParts = tests.flatMap(({ test }) => {
    const parts = all.find(
      ([first]) =>
        first !== undefined &&
        first.path === test.path &&
        test.from <= first.line &&
        first.line <= test.to,
    );
    return parts === undefined ? [] : [{ test, parts }];
  });
  if (testParts.length === 0) return null;
  const { omitted } = await findOmittableTests(check, lab);

  const runAndFindMissed = async (
    flips: readonly Flip[],
    without: readonly string[],
  ): Promise<readonly Flip[]> => {
    const edits = [...texts].flatMap(([path, text]): readonly Edit[] => {
      const fileFlips = flips.filter((flip) => flip.path === path);
      const edited = fileFlips.length === 0 ? null : applyFlips(text, fileFlips);
      return edited === null ? [] : [{ path, text: edited }];
    });
    const observed = edits.length === 0 ? null : await runWith(whether, { edits, without });
    if (observed === null) return [];
    const { missed, unloaded } = findNoticedFlips(flips, lab.now, observed, texts);

    return missed.filter((flip) => !unloaded.includes(flip));
  };

  const silent = new Set<string>();
  for (let round = 0; round < roundsMax; round += 1) {
    const flips = testParts.flatMap(({ parts }) => parts[round] ?? []);
    // A run without the omitted files may confirm, never accuse: what it missed is tried again with
    // all files.
    const suspected = flips.length === 0 ? [] : await runAndFindMissed(flips, omitted);
    const missed = suspected.length === 0 ? [] : await runAndFindMissed(suspected, []);

    for (const { test, parts } of testParts) {
      if (parts.some((flip) => missed.includes(flip))) silent.add(test.name);
    }
  }

  return silent.size === 0 ? null : describeUncomparedParts([...silent], [...classes]);
}
