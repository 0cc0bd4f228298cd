// accused-code: finds the code that a bug report blames, and rewrites it to return what the bug's
// regression test expects. A test that fails because of the bug passes with one of these answers. A
// test that fails whatever the code answers shows no bug. Pure.
//
// Invariants:
//   A1. Only functions that the test names, or that the bug's own position lies in, are changed.
//   A2. An answer is a value that the test itself expects, true or false, or an error.

import { detectLanguage, isTestPath } from "../../../verify/protected/kinds.ts";
import { replaceAnswers } from "../../../verify/experiments/questions/change-functions.ts";
import { findCitations } from "../../../verify/gates/citations.ts";

export type PatchedFile = {
  readonly path: string;
  readonly isNew: boolean;
  readonly removesLines: boolean;
  readonly addedLines: readonly string[];
};
/** A file that a bug blames, with the lines it cites. */
export type AccusedFile = { readonly path: string; readonly lines: readonly number[] };
/** A file whose functions return this answer, whatever they are asked. */
export type AnsweringFile = {
  readonly answer: string;
  readonly path: string;
  readonly text: string;
};

/** Each answer costs a run of the project's tests. */
const expectedValuesMax = 4;

/** The files of a patch. */
export function readPatch(patch: string): readonly PatchedFile[] {
  const isGitPatch = /^diff --git /m.test(patch);
  const sections = patch.split(isGitPatch ? /^(?=diff --git )/m : /^(?=--- \S+.*\n\+\+\+ )/m);
  return sections.map(readFileSection).filter((file) => file !== null);
}

/** One file of a patch; null for text before the first file. */
function readFileSection(section: string): PatchedFile | null {
  const [, newPath] = /^\+\+\+ (?:b\/)?(\S+)/m.exec(section) ?? []; // +++ b/src/a.js
  const [, oldPath] = /^--- (?:a\/)?(\S+)/m.exec(section) ?? []; // --- a/src/a.js
  if (newPath === undefined || oldPath === undefined) return null;
  const lines = section.slice(section.indexOf("@@")).split("\n");

  return {
    path: newPath === "/dev/null" ? oldPath : newPath,
    isNew: oldPath === "/dev/null",
    removesLines: lines.some((line) => line.startsWith("-")),
    addedLines: lines.filter((line) => line.startsWith("+")).map((line) => line.slice(1)),
  };
}

/**
 * Why these patches cannot show a bug, by the files they change: a test must not change the code,
 * nor a fix the test. Null if they can.
 */
export function whyUnfit(
  testFiles: readonly PatchedFile[],
  fixFiles: readonly PatchedFile[],
): string | null {
  const changedCode = testFiles.find(
    (file) =>
      !file.isNew &&
      detectLanguage(file.path) !== null &&
      !isTestPath(file.path) &&
      !addsRustTest(file),
  );
  if (changedCode !== undefined) {
    return `its regression test changes ${changedCode.path}, which it is to judge`;
  }

  const isJudge = (path: string): boolean =>
    isTestPath(path) || testFiles.some((file) => file.path === path);
  const changedJudge = fixFiles.find(({ path }) => !path.endsWith(".rs") && isJudge(path));
  return changedJudge === undefined
    ? null
    : `its fix changes ${changedJudge.path}, which is to judge it`;
}

/** Rust keeps tests inside its sources: there a patch may add lines. */
const addsRustTest = ({ path, removesLines }: PatchedFile): boolean =>
  path.endsWith(".rs") && !removesLines;

/** The code that a bug's section of BUGS.md or its write-up cites, of these files. */
export function findAccused(
  texts: readonly string[],
  paths: readonly string[],
): readonly AccusedFile[] {
  const existingPaths = new Set(paths);
  const citations = texts
    .flatMap(findCitations)
    .map(({ path, lines }) => ({ path: path.replace(/^\.\//, ""), lines }));

  const isCode = (path: string): boolean =>
    existingPaths.has(path) &&
    detectLanguage(path) !== null &&
    !isTestPath(path) &&
    isPlainPath(path);

  const citedPaths = new Set(citations.map(({ path }) => path).filter(isCode));
  return [...citedPaths].map((path) => ({
    path,
    lines: citations.filter((citation) => citation.path === path).flatMap(({ lines }) => lines),
  }));
}

/** A path that needs no quoting. */
export const isPlainPath = (path: string): boolean => /^[\w@+./-]+$/.test(path);

/**
 * Answers besides those that a test expects: the truth values, and an error, of the classes that
 * the test names too.
 */
const pythonAnswers = (errors: readonly string[]): readonly string[] => [
  "True",
  "False",
  ...[...errors, "ValueError"].map((name) => `(_ for _ in ()).throw(${name}())`),
];
const scriptAnswers = (errors: readonly string[]): readonly string[] => [
  "true",
  "false",
  ...[...errors, "Error"].map((name) => `(() => { throw new ${name}("") })()`),
];
const errorClass = /\b(?!AssertionError\b)[A-Z]\w*Error\b/g;
const errorClassesMax = 2;

/** The accused file with each answer that the test may expect, the likeliest first. */
export function answerAsExpected(
  { path, lines }: AccusedFile,
  text: string,
  testFiles: readonly PatchedFile[],
): readonly AnsweringFile[] {
  const addedLines = testFiles.flatMap((file) => file.addedLines);
  const isCalled = (name: string): boolean =>
    addedLines.some((line) =>
      new RegExp(`(?<![\\w$])${name.replaceAll("$", "\\$")}\\s*\\(`).test(line),
    );
  const isAccused = (name: string, firstLine: number, lastLine: number): boolean =>
    isCalled(name) || lines.some((line) => line >= firstLine && line <= lastLine); // A1
  const errors = [...new Set(addedLines.flatMap((line) => line.match(errorClass) ?? []))].slice(
    0,
    errorClassesMax,
  );
  const otherAnswers =
    detectLanguage(path) === "py" ? pythonAnswers(errors) : scriptAnswers(errors);
  const answers = new Set([
    ...findExpectedValues(addedLines).slice(0, expectedValuesMax),
    ...otherAnswers,
  ]); // A2

  return [...answers].flatMap((answer) => {
    const changedText = replaceAnswers(path, text, answer, isAccused);
    return changedText === null ? [] : [{ answer, path, text: changedText }];
  });
}

/** A number, a quoted text or a named constant: `-1.5e3`, `"a"`, `None`. */
const literal = String.raw`-?\d+(?:\.\d+)?(?:e-?\d+)?n?|"[^"\n]*"|'[^'\n]*'|\b(?:true|false|null|undefined|None|True|False)\b`;
/** A literal, a list or an object of literals: `3`, `[1, 2]`, `{ a: 1 }`. */
const plainValue = new RegExp(
  String.raw`(?<![\w.$])(?:\[\s*(?:(?:${literal})\s*,?\s*)*\]|\{\s*(?:["']?\w+["']?\s*:\s*(?:${literal})\s*,?\s*)*\}|${literal})(?![\w$])`,
  "g",
);
const assertion = /assert|expect|should|equal|\bis\b|==|\bok\b|raises|throws/i;
const importLine = /^\s*(?:import|from)\b/;

/**
 * The plain values in lines that assert something; of each line the last first, where most
 * assertions have the expected value.
 */
function findExpectedValues(addedLines: readonly string[]): readonly string[] {
  const assertingLines = addedLines.filter(
    (line) => assertion.test(line) && !importLine.test(line),
  );
  const values = assertingLines.flatMap((line) =>
    [...line.matchAll(plainValue)].map(([value]) => value).toReversed(),
  );
  return [...new Set(values)];
}
