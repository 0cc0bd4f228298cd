// needed-test-files: finds the test files that an experiment can leave out, if only some of them
// matter to it. Pure.
//
// Invariants:
//   N1. A run without them may confirm, never accuse: what it does not confirm is tried again with
//       the whole check.
//   N2. Whether a check can fail at all is never decided that way: code could see that files are
//       missing, and be honest only then.
// (Both are kept where such runs are made: experiment-on-check.ts, questions/compared-parts.ts.)

import type { TestCase } from "../source-text/test-cases.ts";
import { isNameOfTest, isNameOfFile } from "../source-text/test-cases.ts";
import type { Observed } from "./noticed-flips.ts";

/**
 * Files that runners find by name, so that a check passes without them; other files among tests may
 * be needed.
 */
const foundByName = /(?:[._-](?:test|spec)\.[cm]?[jt]sx?|(?:^|\/)test_[^/]*\.py|_test\.py)$/;

/**
 * `kept`: the files that matter. Empty if leaving the others out would save little, or may not be
 * possible.
 */
export function findOmittableFiles(
  paths: readonly string[],
  kept: ReadonlySet<string>,
  { used, textOf }: { readonly used: readonly string[]; readonly textOf: (path: string) => string },
): readonly string[] {
  const found = paths.filter((path) => foundByName.test(path));
  if (kept.size === 0 || [...kept].some((path) => !foundByName.test(path))) return [];
  const omittable = found.filter((path) => !kept.has(path));

  const isNamed = (path: string): boolean => {
    const name = path.split("/").at(-1) ?? path;
    const stem = name.replace(/\.\w+$/, "");
    return (
      used.some((text) => text.includes(name)) ||
      [...kept].some((keptPath) => textOf(keptPath).includes(stem))
    );
  };
  return omittable.length < kept.size || omittable.some(isNamed) ? [] : omittable;
}

/**
 * Whether every failure before the work is attributed to a test: then the files of the tests it
 * depends on are known.
 */
export function areFailuresAttributed(
  before: Observed | null,
  tests: readonly TestCase[],
): boolean {
  if (before === null) return false;
  const names = [...before.failed];
  const paths = new Set(tests.map(({ path }) => path));

  return names.every(
    (name) =>
      tests.some((test) => isNameOfTest(name, test)) ||
      [...paths].some((path) => isNameOfFile(name, path)) ||
      names.some((other) => other.startsWith(`${name} > `)),
  );
}
