// mutations: changes functions that the work wrote so that they return something else
// (change-functions.ts), to see whether its new tests notice. Pure.
//
// Invariants:
//   M1. Only new code is changed: functions that the work wrote and its tests call, all of them in
//       one run.
//   M2. A function is noticed if one test that calls it fails. A file that can no longer be loaded
//       shows nothing. A test that fails and calls none of them may call one through a helper.

import { listSome } from "../../../kit/list-some.ts";
import {
  findTestCases,
  isNameOfTest,
  isNameOfFile,
  type TestCase,
} from "../source-text/test-cases.ts";
import type { Observed } from "../broken-expectations/noticed-flips.ts";
import { applyChanges } from "../source-text/apply-changes.ts";
import {
  findFunctions,
  type Source,
  textCharsMax,
  type WrittenFunction,
} from "./change-functions.ts";

export type MutatedFunctions = {
  readonly edits: readonly { readonly path: string; readonly text: string }[];
  /** The edits that change only these. */
  readonly editsOf: (functions: readonly WrittenFunction[]) => MutatedFunctions["edits"];
  readonly functions: readonly WrittenFunction[];
  readonly cases: readonly TestCase[];
};

const functionsMax = 60;

/** Null if nothing could be changed. `tests`: the test files that call what is changed. */
export function mutateFunctions(
  source: readonly Source[],
  tests: readonly Source[],
  nonce: string,
  isMeant: (path: string, name: string) => boolean = () => true,
): MutatedFunctions | null {
  const cases = tests
    .flatMap(({ path, is }) => findTestCases(path, is))
    .filter(({ isSkipped }) => !isSkipped);

  const all = source
    .filter(({ is }) => is.length <= textCharsMax)
    .flatMap((file) => findFunctions(file, JSON.stringify(nonce)));

  const isCalled = ({ path, name, changes }: WrittenFunction): boolean =>
    changes.length > 0 && isMeant(path, name) && cases.some((test) => callsFunction(test, name));
  const called = all.filter(isCalled).slice(0, functionsMax); // M1

  const editsOf = (functions: readonly WrittenFunction[]): MutatedFunctions["edits"] =>
    source.flatMap(({ path, is }) => {
      const fileChanges = functions
        .filter((candidate) => candidate.path === path)
        .flatMap(({ changes }) => changes);
      return fileChanges.length === 0 ? [] : [{ path, text: applyChanges(is, fileChanges) }];
    });
  const edits = editsOf(called);
  return edits.length === 0 ? null : { edits, editsOf, functions: called, cases };
}

const callsFunction = ({ text }: TestCase, name: string): boolean =>
  new RegExp(`(?<![\\w$])${name.replaceAll("$", "\\$")}!?\\s*\\(`).test(text);

type Changed = Pick<MutatedFunctions, "functions" | "cases">;

/** The changed functions that no test noticed; null if the run shows nothing. */
export function findUnnoticed(
  { functions, cases }: Changed,
  before: Observed,
  now: Observed,
): readonly WrittenFunction[] | null {
  if (now.passed) return functions;
  const names = listNewFailures(before, now);
  const failedTests = filterNamed(cases, names);
  const isLoaded = (path: string): boolean =>
    failedTests.some((test) => test.path === path) ||
    !names.some((name) => isNameOfFile(name, path));

  if (names.length === 0 || !cases.every(({ path }) => isLoaded(path))) return null; // M2
  return functions.filter(({ name }) => !failedTests.some((test) => callsFunction(test, name)));
}

/** Whether a test fails that passed, and names none of the changed functions. */
export const failsIndirectly = (
  { functions, cases }: Changed,
  before: Observed,
  now: Observed,
): boolean =>
  listNewFailures(before, now).some(
    (name) =>
      ((before.passedNames?.size ?? 0) === 0 || before.passedNames?.has(name) === true) &&
      !cases.some(
        (test) =>
          (isNameOfTest(name, test) || isNameOfFile(name, test.path)) &&
          functions.some((one) => callsFunction(test, one.name)),
      ),
  );

export const listNewFailures = (before: Observed, now: Observed): readonly string[] =>
  [...now.failed].filter((name) => !before.failed.has(name));
const filterNamed = (cases: readonly TestCase[], names: readonly string[]): readonly TestCase[] =>
  cases.filter((test) => names.some((name) => isNameOfTest(name, test)));

export const listFunctions = (
  functions: readonly Pick<WrittenFunction, "path" | "name" | "line">[],
): string => listSome(functions.map(({ path, line, name }) => `${name} (${path}:${line})`));
