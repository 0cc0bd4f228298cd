// self-written: whether every test that shows the work was written by the work. Such tests show what their author thinks is right: a person
// reads them, or gives a check the agent never sees. Pure.

import { isNameOfTest, type TestCase } from "../source/test-cases.ts";
import type { Observed } from "../breaks/noticed-breaks.ts";
import { decidingTestsIn } from "../breaks/deciding-tests.ts";

/** `now` and `then`: the tests as they are judged and before. `ran`: the names of those that passed, or null if the check names none. */
export function selfWritten(
  { now, then }: { readonly now: readonly TestCase[]; readonly then: readonly TestCase[] },
  { before, wasRed }: { readonly before: Observed | null; readonly wasRed: boolean },
  ran: readonly string[] | null,
): readonly string[] {
  const isRun = (one: TestCase): boolean => ran === null || ran.some((name) => isNameOfTest(name, one));
  const rested = decidingTestsIn(now, then, before, wasRed).filter(isRun);
  const known = new Set(then.map(keyOf));
  return rested.some((one) => known.has(keyOf(one))) ? [] : [...new Set(rested.map(({ path }) => path))];
}

/** A test that was moved is still its author's. */
const keyOf = ({ text }: TestCase): string => text.trim();

const shownMax = 3;

export function selfWrittenWords(paths: readonly string[]): string {
  const more = paths.length > shownMax ? ` and ${paths.length - shownMax} more` : "";
  return `only tests that the work wrote itself show it (${paths.slice(0, shownMax).join(", ")}${more}), so read them, or add a check of your own (--holdout)`;
}
