// fix-reach: what a bug's fix reaches: whether it changes the accused code, or only adds what its
// own test asks for. Pure.
//
// Invariants:
//   R1. A test that itself loads a file that only the fix adds is red because that file is missing,
//       and tells nothing of the code that is there.
//   R2. It is another thing if the accused code loads that file: then it really cannot be loaded.
//   R3. A fix that passes without what it changes in the accused code, or in what that loads, has
//       not mended it.
//   R4. A fix that writes out a whole list or text that its test gives to an accused function may
//       mend that input alone. Only inputs that can hardly be there by chance count, and only if
//       the code did not have them before.

import type { TestNames } from "../../../contracts/evidence.ts";
import { detectLanguage } from "../../../verify/protected/kinds.ts";
import { findLoaded } from "../../../verify/experiments/source-text/loaded-files.ts";
import { isPlainPath, type PatchedFile } from "./accused-code.ts";

type Source = { readonly path: string; readonly text: string };

export type FixReach = {
  /** Files that only the fix adds, and that the regression test itself loads. R1 */
  readonly loaded: readonly string[];
  /** Whether the accused code loads a file that only the fix adds. R2 */
  readonly isAccusedUnloadable: boolean;
  /**
   * Accused files that the fix changes, and files that it changes and that an accused one loads.
   */
  readonly reachedPaths: readonly string[];
  /** Whether it changes other files too: then those may not matter. R3 */
  readonly isMixed: boolean;
  /** Whether it changes nothing that is there, and adds code. */
  readonly onlyAddsCode: boolean;
};

/** `accused`: the texts of the accused files before any patch. */
export function findReach(
  testFiles: readonly PatchedFile[],
  fixFiles: readonly PatchedFile[],
  accused: readonly Source[],
): FixReach {
  const testPaths = new Set(testFiles.map(({ path }) => path));
  const addedPaths = fixFiles
    .filter(({ isNew, path }) => isNew && !testPaths.has(path))
    .map(({ path }) => path);

  const changedPaths = fixFiles
    .filter(({ isNew, path }) => !isNew && isPlainPath(path))
    .map(({ path }) => path);
  const isReached = (path: string): boolean =>
    accused.some((file) => file.path === path || findLoaded(file, changedPaths).includes(path));
  const reachedPaths = changedPaths.filter(isReached);
  const loads = (source: Source): readonly string[] => findLoaded(source, addedPaths);

  return {
    loaded: [
      ...new Set(
        testFiles.flatMap(({ path, addedLines }) => loads({ path, text: addedLines.join("\n") })),
      ),
    ],
    isAccusedUnloadable: accused.some((source) => loads(source).length > 0),
    reachedPaths,
    isMixed: reachedPaths.length > 0 && fixFiles.length > reachedPaths.length,
    onlyAddsCode:
      addedPaths.length === fixFiles.length &&
      addedPaths.some((path) => detectLanguage(path) !== null),
  };
}

/**
 * Whether none of the tests that newly pass with the fix is among those that failed without it.
 * False if they are not named.
 */
export function hasNotRun(
  before: TestNames | undefined,
  withTest: TestNames | undefined,
  withFix: TestNames | undefined,
): boolean {
  if (before === undefined || withTest === undefined || withFix === undefined) return false;
  const earlier = new Set(before.passed);
  const newTests = withFix.passed.filter((name) => !earlier.has(name));

  return (
    earlier.size > 0 &&
    newTests.length > 0 &&
    !newTests.some((name) => withTest.failed.includes(name))
  );
}

/** Shorter inputs may stand in a fix by chance. */
const numbersMin = 3;
const textCharsMin = 4;
const argumentCharsMax = 2_000;

/** Comments and examples may name any input. */
const remark = /^\s*(?:\/\/|\/?\*|#|>>>).*|\s(?:\/\/|#)\s.*$/;

/**
 * The inputs that the test gives to a function of this code and that the fix newly writes out, as
 * the test writes them. R4
 */
export function findSpelledInputs(
  testFiles: readonly PatchedFile[],
  fixFiles: readonly PatchedFile[],
  code: readonly Source[],
): readonly string[] {
  const test = testFiles.flatMap(({ addedLines }) => addedLines).join("\n");
  const codeBefore = code.map(({ text }) => text).join("\n");
  const fixed = fixFiles
    .filter(({ path }) => detectLanguage(path) !== null)
    .flatMap(({ addedLines }) => addedLines);

  const isDefined = (name: string): boolean =>
    new RegExp(`(?:function\\s*\\*?|const|let|var|def|fn|func)\\s+${name}\\b`).test(codeBefore);
  const inputs = [
    ...test.matchAll(/(?<![\w$])([A-Za-z_]\w*)\s*\(\s*(\[[^[\]{}]*\]|"[^"\n]*"|'[^'\n]*')\s*[,)]/g),
  ]
    .filter(([whole, name = ""]) => whole.length <= argumentCharsMax && isDefined(name))
    .map(([, , input = ""]) => input);

  const isNew = (isIn: (text: string) => boolean): boolean =>
    fixed.map((line) => line.replace(remark, "")).some(isIn) && !codeBefore.split("\n").some(isIn);
  return [...new Set(inputs)].filter((input) => isNew((text) => writesOut(text, input)));
}

/**
 * Whether a line of code contains this input: a text with a number in it whole, of a list its
 * numbers one after the other.
 */
function writesOut(line: string, input: string): boolean {
  if (!input.startsWith("[")) {
    return (
      input.length - 2 >= textCharsMin && /\d/.test(input) && line.includes(input.slice(1, -1))
    );
  }

  const numbers = listNumbers(input);
  if (numbers.length < numbersMin || new Set(numbers).size < numbersMin) return false;
  return ` ${listNumbers(line.replaceAll(/\[\d+\]/g, "")).join(" ")} `.includes(
    ` ${numbers.join(" ")} `,
  );
}

const listNumbers = (text: string): readonly string[] =>
  text.match(/(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])/g) ?? [];
