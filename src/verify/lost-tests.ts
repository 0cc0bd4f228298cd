// lost-tests: finds tests that no longer run, and describes those and tests that no longer pass.
// Reads nothing but the work's paths and tests.

import { listSome } from "../kit/list-some.ts";
import type { Evidence, TestNames, TestTally } from "../contracts/evidence.ts";
import { findUnrunTests, type ReportedNames } from "./detect/test-names.ts";
import type { GitSha } from "../contracts/ids.ts";
import type { Workspace } from "../ports/workspace.ts";
import { textBytesMax } from "./protected/read-change.ts";
import { findTestCases, isNameOfTest } from "./experiments/source-text/test-cases.ts";
import { findProtectionRow } from "./protected/kinds.ts";

const describeFewerTests = (ranBefore: number, ranNow: number): string | null =>
  ranNow < ranBefore ? `it ran ${ranNow} tests, and ${ranBefore} before the work began` : null;

/**
 * A pass in which tests are only skipped or ignored shows nothing of them, nor of those that are
 * skipped since the work.
 */
export function describeSkippedTests(
  before: Pick<Evidence, "names" | "tests"> | null,
  now: TestTally | null,
): string | null {
  if (now === null || now.skipped === 0) return null;
  if (now.ran === 0) return `it ran no test: ${now.skipped} are skipped or ignored`;
  // What a file would have skipped that could not be loaded before is unknown.
  const isCounted =
    (before?.tests?.ran ?? 0) > 0 &&
    before?.names?.failed.some((name) => wholeFile.test(name)) !== true;
  const more = isCounted ? now.skipped - (before?.tests?.skipped ?? 0) : 0;

  return more > 0
    ? `it skips ${more === 1 ? "a test" : `${more} tests`} more than before the work`
    : null;
}

/**
 * `test/mul.test.js`, `test_mul (unittest.loader._FailedTest.test_mul)`: as runners name a file
 * that they could not load.
 */
const wholeFile = /^[^\s>:]*\.\w+$|\(unittest\.loader\._FailedTest\b/;

const describeUnrunTests = (names: readonly string[]): string =>
  `it no longer runs ${listSome(names)}`;

/** Null if nothing broke. */
export const describeBrokenTests = (names: readonly string[]): string | null =>
  names.length === 0 ? null : `passed before the work began and fails now: ${listSome(names)}`;

/**
 * Tests that passed before and are not named now. One whose file or module is gone and that runs
 * under a new name elsewhere was moved.
 */
export async function findLostTests(
  before: TestNames | undefined,
  now: ReportedNames,
  pathsNow: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const unrun = before === undefined ? [] : findUnrunTests(before, now);
  if (before === undefined || unrun.length === 0) return [];
  const [paths, earlierNames] = [
    new Set(await pathsNow()),
    new Set([...before.passed, ...before.failed]),
  ];
  const newNames = [...now.passed].filter((name) => !earlierNames.has(name)).map(toOwnName);

  return unrun.filter((name) => {
    const files = listFilesOf(name);
    const stands = files.some((path) => paths.has(path));
    const isOfFile = files.length > 0 || rustPath.test(name);
    const index = stands || !isOfFile ? -1 : newNames.indexOf(toOwnName(name));
    if (index !== -1) newNames.splice(index, 1);

    return index === -1;
  });
}

/** `parser::tests::reads`: a module that may have been moved to a file of its own. */
const rustPath = /^\w+(?:::\w+)+$/;

type WorkFiles = {
  readonly paths: () => Promise<readonly string[]>;
  readonly textOf: (path: string) => Promise<string | null>;
};
type Comparison = {
  readonly before: Pick<Evidence, "names" | "tests"> | null;
  readonly now: { readonly names: ReportedNames; readonly tests: TestTally | null };
  /**
   * Whether the scope names protected files: then tests may be removed, but not stand there without
   * being run.
   */
  readonly mayRemove: boolean;
};

/** Tests that were run before the work and are not now; null if there are none. */
export async function describeLostTests(
  { before, now, mayRemove }: Comparison,
  workspace: Pick<Workspace, "pathsAt" | "textAt">,
  commit: GitSha,
): Promise<string | null> {
  const work: WorkFiles = {
    paths: () => workspace.pathsAt(commit),
    textOf: (path) => workspace.textAt(commit, path, textBytesMax),
  };
  const find = mayRemove
    ? findUnrunKept(before?.names, now.names, work)
    : findLostTests(before?.names, now.names, work.paths);
  const lost = await find;
  if (lost.length > 0) return describeUnrunTests(lost);

  return mayRemove ? null : describeFewerTests(before?.tests?.ran ?? 0, now.tests?.ran ?? 0);
}

const testFilesReadMax = 200;

/**
 * Of the tests that ran before and no longer run, those that still stand in a test file of the
 * work.
 */
export async function findUnrunKept(
  before: TestNames | undefined,
  now: ReportedNames,
  { paths, textOf }: WorkFiles,
): Promise<readonly string[]> {
  const red = (before?.failed ?? []).filter(
    (name) => now.passed.size > 0 && !now.passed.has(name) && !now.failed.has(name),
  );
  const unrun = [...(await findLostTests(before, now, paths)), ...red];
  if (unrun.length === 0) return [];
  const testFiles = (await paths())
    .filter((path) => findProtectionRow(path)?.kind === "test")
    .slice(0, testFilesReadMax);
  const cases = await Promise.all(
    testFiles.map(async (path) => findTestCases(path, (await textOf(path)) ?? "")),
  );

  const runsElsewhere = new Set([...now.passed, ...now.failed.keys()].map(toOwnName));
  return unrun.filter(
    (name) =>
      !runsElsewhere.has(toOwnName(name)) && cases.flat().some((test) => isNameOfTest(name, test)),
  );
}

/** A test's name without its file, module and class. */
const toOwnName = (name: string): string =>
  (name.split(/ > |::/).at(-1) ?? name).replace(/ \([\w.]+\)$/, "");

/**
 * The files that a test may be in by its name: `test/a.test.js > adds`, `tests/test_a.py::test_x`,
 * `test_x (tests.test_a.Adds.test_x)`.
 */
function listFilesOf(name: string): readonly string[] {
  const path = /^(\S+\.\w+)(?: > |::)/.exec(name)?.[1];
  if (path !== undefined) return [path];
  const words = / \(([\w.]+)\)$/.exec(name)?.[1]?.split(".") ?? [];

  return words.map((_word, index) => `${words.slice(0, index + 1).join("/")}.py`);
}
