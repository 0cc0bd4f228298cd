// compared-parts: whether tests that expect an object of one of the work's own classes notice a change in each of its parts
// (expected-parts.ts).
// Invariants N1 and on: verify/experiments/breaks/needed-test-files.ts.

import { isProgramText } from "../../protected/kinds.ts";
import { decidingTestsFor, narrowFor } from "../breaks/candidates.ts";
import { nonceOf } from "../breaks/choose-breaks.ts";
import { classesIn, partsIn, partsWords } from "../breaks/expected-parts.ts";
import { broken, type Flip } from "../breaks/flips.ts";
import { noticedBy } from "../breaks/noticed-breaks.ts";
import type { Edit } from "../laboratory.ts";
import { type Asking, sourcesIn } from "./asking.ts";

const roundsMax = 4;
const whether = "its tests compare all parts of what they expect";

export async function partsCompared(asking: Asking): Promise<string | null> {
  const { check, lab, ask } = asking;
  const classes = new Set((await sourcesIn(asking)).flatMap(({ path, is }) => (isProgramText(path) ? classesIn(is) : [])));
  if (classes.size === 0) return null;
  const { tests, textOf } = await decidingTestsFor(check, lab);
  const texts = new Map([...new Set(tests.map(({ test }) => test.path))].map((path) => [path, textOf(path)]));
  const all = [...texts].flatMap(([path, text]) => partsIn(path, text, classes, nonceOf(lab.seed)));
  const ofTest = tests.flatMap(({ test }) => {
    const own = all.find(([first]) => first !== undefined && first.path === test.path && test.from <= first.line && first.line <= test.to);
    return own === undefined ? [] : [{ test, parts: own }];
  });
  if (ofTest.length === 0) return null;
  const { out } = await narrowFor(check, lab);
  const missedOf = async (flips: readonly Flip[], without: readonly string[]): Promise<readonly Flip[]> => {
    const edits = [...texts].flatMap(([path, text]): readonly Edit[] => {
      const here = flips.filter((flip) => flip.path === path);
      const edited = here.length === 0 ? null : broken(text, here);
      return edited === null ? [] : [{ path, text: edited }];
    });
    const observed = edits.length === 0 ? null : await ask(whether, { edits, without });
    if (observed === null) return [];
    const { missed, unread } = noticedBy(flips, lab.now, observed, texts);
    return missed.filter((flip) => !unread.includes(flip));
  };
  const silent = new Set<string>();
  for (let round = 0; round < roundsMax; round += 1) {
    const flips = ofTest.flatMap(({ parts }) => parts[round] ?? []);
    const open = flips.length === 0 ? [] : await missedOf(flips, out);
    const missed = open.length === 0 ? [] : await missedOf(open, []); // N1
    for (const { test, parts } of ofTest) if (parts.some((flip) => missed.includes(flip))) silent.add(test.name);
  }
  return silent.size === 0 ? null : partsWords([...silent], [...classes]);
}
