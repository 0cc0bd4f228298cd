// self-written: whether every test that shows the work was written by the work. Such tests show what their author thinks is right: a person
// reads them, or gives a check the agent never sees. Pure.

import { isNameOfTest, type TestCase } from "../source/test-cases.ts";
import type { Observed } from "../flips/noticed-flips.ts";
import { filterDeciding } from "../flips/deciding-tests.ts";

/** `now` and `then`: the tests as they are judged and before. `ran`: the names of those that passed, or null if the check names none. */
export function selfWrittenPaths(
  { now, then }: { readonly now: readonly TestCase[]; readonly then: readonly TestCase[] },
  { before, wasRed }: { readonly before: Observed | null; readonly wasRed: boolean },
  ran: readonly string[] | null,
): readonly string[] {
  const isRun = (one: TestCase): boolean => ran === null || ran.some((name) => isNameOfTest(name, one));
  const deciding = filterDeciding(now, then, before, wasRed).filter(isRun);
  const earlierTests = new Set(then.map(testKey));
  return deciding.some((one) => earlierTests.has(testKey(one))) ? [] : [...new Set(deciding.map(({ path }) => path))];
}

/** A test that was moved is still its author's. */
const testKey = ({ text }: TestCase): string => text.trim();

const shownMax = 3;

export function describeSelfWritten(paths: readonly string[]): string {
  const more = paths.length > shownMax ? ` and ${paths.length - shownMax} more` : "";
  return `only tests that the work wrote itself show it (${paths.slice(0, shownMax).join(", ")}${more}), so read them, or add a check of your own (--holdout)`;
}
