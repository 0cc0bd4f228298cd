// lost-tests: finds tests that no longer run, and describes those and tests that no longer pass. Pure, except for the list of paths.

import { listSome } from "../kit/list-some.ts";
import type { TestNames, TestTally } from "../contracts/evidence.ts";
import { findUnrunTests, type ReportedNames } from "./detect/test-names.ts";

export const describeFewerTests = (ranBefore: number, ranNow: number): string | null =>
  ranNow < ranBefore ? `it ran ${ranNow} tests, and ${ranBefore} before the work began` : null;

/** A pass in which tests are only skipped or ignored shows nothing of them. */
export const describeSkippedTests = (now: TestTally | null): string | null =>
  now !== null && now.ran === 0 && now.skipped > 0 ? `it ran no test: ${now.skipped} are skipped or ignored` : null;

export const describeUnrunTests = (names: readonly string[]): string => `it no longer runs ${listSome(names)}`;

/** Null if nothing broke. */
export const describeBrokenTests = (names: readonly string[]): string | null =>
  names.length === 0 ? null : `passed before the work began and fails now: ${listSome(names)}`;

/** Tests that passed before and are not named now. One whose file is gone and that runs under a new name elsewhere was moved. */
export async function findLostTests(
  before: TestNames | undefined,
  now: ReportedNames,
  pathsNow: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const unrun = before === undefined ? [] : findUnrunTests(before, now);
  if (before === undefined || unrun.length === 0) return [];
  const [paths, earlierNames] = [new Set(await pathsNow()), new Set([...before.passed, ...before.failed])];
  const newNames = [...now.passed].filter((name) => !earlierNames.has(name)).map(toOwnName);
  return unrun.filter((name) => {
    const files = listFilesOf(name);
    const index = files.length === 0 || files.some((path) => paths.has(path)) ? -1 : newNames.indexOf(toOwnName(name));
    if (index !== -1) newNames.splice(index, 1);
    return index === -1;
  });
}

/** A test's name without its file, module and class. */
const toOwnName = (name: string): string => (name.split(/ > |::/).at(-1) ?? name).replace(/ \([\w.]+\)$/, "");

/** The files that a test may be in by its name: `test/a.test.js > adds`, `tests/test_a.py::test_x`, `test_x (tests.test_a.Adds.test_x)`. */
function listFilesOf(name: string): readonly string[] {
  const path = /^(\S+\.\w+)(?: > |::)/.exec(name)?.[1];
  if (path !== undefined) return [path];
  const words = / \(([\w.]+)\)$/.exec(name)?.[1]?.split(".") ?? [];
  return words.map((_word, index) => `${words.slice(0, index + 1).join("/")}.py`);
}
