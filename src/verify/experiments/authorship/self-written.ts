// self-written: finds out whether every test that a pass depends on was written by the work itself.
// Such tests show what their author thinks is right: a person has to read them, or give a check
// that the agent never sees. Pure.

import { listSome } from "../../../kit/list-some.ts";
import { isNameOfFile, isNameOfTest, type TestCase } from "../changed-source/test-cases.ts";
import type { Observed } from "../broken-expectations/noticed-flips.ts";
import { filterDeciding } from "../broken-expectations/deciding-tests.ts";

/**
 * The files of those tests; empty if one of them is older than the work. `current` and `earlier`:
 * the tests as they are judged and as they were before the work. `passedNames`: the names of those
 * that passed, or of their whole files, or null if the check names none.
 */
export function findSelfWrittenPaths(
  {
    current,
    earlier,
  }: { readonly current: readonly TestCase[]; readonly earlier: readonly TestCase[] },
  { before, wasRed }: { readonly before: Observed | null; readonly wasRed: boolean },
  passedNames: readonly string[] | null,
): readonly string[] {
  const isPassed = (name: string, test: TestCase): boolean =>
    isNameOfTest(name, test) || isNameOfFile(name, test.path);
  const hasPassed = (test: TestCase): boolean =>
    passedNames === null || passedNames.some((name) => isPassed(name, test));
  const deciding = filterDeciding(current, earlier, before, wasRed).filter(hasPassed);
  const earlierTests = new Set(earlier.map(testKey));

  return deciding.some((test) => earlierTests.has(testKey(test)))
    ? []
    : [...new Set(deciding.map(({ path }) => path))];
}

/** Without the path: a test that was moved is no new test. */
const testKey = ({ text }: TestCase): string => text.trim();

export const describeSelfWritten = (paths: readonly string[]): string =>
  `only tests that the work wrote itself show it (${listSome(paths)}), so read them, or add a check of your own (--holdout)`;
