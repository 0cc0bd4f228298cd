// mutations: changes the work's own code so that it returns something else, to see whether its new
// tests notice. Pure.
//
// Invariants:
//   M1. Only new code is changed: functions that the work wrote and its tests call, all of them in
//       one run.
//   M2. If the language allows it, a function returns a value made for this run; if types forbid
//       that, literals and operators in it are changed.
//   M3. A function is noticed if one test that calls it fails. A file that can no longer be loaded
//       shows nothing. A test that fails and calls none of them may call one through a helper.

import { listSome } from "../../../kit/list-some.ts";
import { detectLanguage } from "../../protected/kinds.ts";
import { detectSourceLanguage, type SourceLanguage } from "../../protected/source-language.ts";
import { maskText } from "../../protected/mask-text.ts";
import { findClosingBracket } from "../source-text/brackets.ts";
import { findRustTestModules, isInside } from "../source-text/rust-places.ts";
import {
  findTestCases,
  isNameOfTest,
  isNameOfFile,
  createLineCounter,
  type TestCase,
} from "../source-text/test-cases.ts";
import { shuffle } from "../broken-expectations/choose-flips.ts";
import { toAdjacentLiteral } from "../broken-expectations/literal-flips.ts";
import type { Observed } from "../broken-expectations/noticed-flips.ts";
import { applyChanges, type TextChange } from "../source-text/apply-changes.ts";

type Source = { readonly path: string; readonly was: string | null; readonly is: string };
/** A function that the work wrote. */
export type WrittenFunction = {
  readonly path: string;
  readonly name: string;
  readonly line: number;
  readonly changes: readonly TextChange[];
};
export type MutatedFunctions = {
  readonly edits: readonly { readonly path: string; readonly text: string }[];
  /** The edits that change only these. */
  readonly editsOf: (functions: readonly WrittenFunction[]) => MutatedFunctions["edits"];
  readonly functions: readonly WrittenFunction[];
  readonly cases: readonly TestCase[];
};

const functionsMax = 60;
const changesMax = 3;
const textCharsMax = 400_000;

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

  if (names.length === 0 || !cases.every(({ path }) => isLoaded(path))) return null; // M3
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

type FunctionHead = readonly [families: readonly SourceLanguage[], form: RegExp];
const functionHeads: readonly FunctionHead[] = [
  [["js"], /\bfunction\s*\*?\s*([\w$]+)\s*(?:<[^>(]*>)?\(/g],
  [
    ["js"],
    /(?:\b(?:const|let|var)\s+|\bexports\.)([\w$]+)\s*(?::[^=;\n]+)?=\s*(?:async\s*)?(?:function\b[^(]*)?(?:<[^>(]*>)?\(/g,
  ],
  [["js"], /(?:\b(?:const|let|var)\s+|\bexports\.)([\w$]+)\s*=\s*(?:async\s+)?[\w$]+\s*=>/g],
  [
    ["js"],
    /^[ \t]+(?:static\s+|async\s+|public\s+|private\s+)*(?!(?:if|for|while|switch|catch|constructor|return|function)\b)([\w$]+)\s*\((?=[^;\n]*\{[^\n]*$)/gm,
  ],
  [["py"], /^[ \t]*(?:async[ \t]+)?def[ \t]+(?!__)(\w+)[ \t]*\(/gm],
  [["go"], /\bfunc\s+(?:\([^)]*\)\s*)?(\w+)\s*\(/g],
  [["rust"], /\bfn\s+(\w+)\s*(?:<[^>(]*>)?\(/g],
  [["c", "java"], /^[ \t]*(?:[\w*<>[\],]+[ \t]+)+\*?(\w+)[ \t]*\((?=[^;{}]*\)[^;{}]*\{)/gm],
];

/**
 * A file in which these functions give this answer, an expression of its language; null if none
 * could be changed. JavaScript and Python.
 */
export function replaceAnswers(
  path: string,
  text: string,
  answer: string,
  isMeant: (name: string, fromLine: number, toLine: number) => boolean,
): string | null {
  if (!["js", "py"].includes(detectLanguage(path) ?? "") || text.length > textCharsMax) return null;
  const functions = findFunctions({ path, was: null, is: text }, answer);

  const changes = functions
    .filter(({ name, line }, index) =>
      isMeant(name, line, (functions[index + 1]?.line ?? Number.POSITIVE_INFINITY) - 1),
    )
    .flatMap((candidate) => candidate.changes);
  return changes.length === 0 ? null : applyChanges(text, changes);
}

function findFunctions({ path, was, is }: Source, answer: string): readonly WrittenFunction[] {
  const family = detectSourceLanguage(path);
  if (family === null) return [];
  const code = maskText(is, family);
  const lineAt = createLineCounter(is);
  const earlierLines = new Set((was ?? "").split("\n").map((line) => line.trim()));
  const lines = is.split("\n");
  const isNew = (from: number, to: number): boolean =>
    lines
      .slice(lineAt(from) - 1, lineAt(to))
      .some((line) => line.trim() !== "" && !earlierLines.has(line.trim()));

  const tests = family === "rust" ? findRustTestModules(code) : [];
  const heads = functionHeads
    .filter(([families]) => families.includes(family))
    .flatMap(([, form]) =>
      [...code.matchAll(form)].map(({ 0: open, 1: name = "", index }) => ({
        name,
        index,
        end: index + open.length,
      })),
    )
    .filter(({ index }) => !isInside(tests, index))
    .toSorted((left, right) => left.index - right.index);

  const mutate = (headEnd: number, functionEnd: number): readonly TextChange[] => {
    if (family === "js") return mutateJs(code, headEnd, answer, path);
    return family === "py"
      ? mutatePython(code, is, headEnd, answer)
      : mutateTyped(code, is, headEnd, functionEnd, isNew);
  };

  return heads.flatMap(({ name, index, end }, position) => {
    const nextTests = tests.find(({ from }) => from > index)?.from ?? is.length;
    const functionEnd = Math.min(heads[position + 1]?.index ?? is.length, nextTests); // where the next begins
    if (!isNew(index, Math.max(index, functionEnd - 1))) return []; // M1
    return [{ path, name, line: lineAt(index), changes: mutate(end, functionEnd) }];
  });
}

/**
 * `return ANSWER;` at the beginning of its body, or `true ? ANSWER :` before an expression (M2).
 * `end`: the end of its head.
 */
function mutateJs(code: string, end: number, answer: string, path: string): readonly TextChange[] {
  const text = /\.[cm]?tsx?$/.test(path) ? `(${answer} as never)` : answer;
  const head = code[end - 1] === "(" ? findClosingBracket(code, end - 1) : end;
  if (head === null) return [];
  const arrow = code[end - 1] === "(" ? /^[^{;\n]*?=>/.exec(code.slice(head, head + 300)) : [""];
  const body = arrow === null ? /^[^;{]*\{/.exec(code.slice(head, head + 300)) : null;
  if (body !== null) return insertText(head + body[0].length, ` return ${text};`);
  if (arrow === null) return [];
  const from = head + (arrow[0] ?? "").length;
  const brace = /^\s*\{/.exec(code.slice(from, from + 40));

  return brace === null
    ? insertText(from, ` true ? ${text} :`)
    : insertText(from + brace[0].length, ` return ${text};`);
}

/** `return ANSWER` as its first statement, behind what it says of itself: that may have examples. */
function mutatePython(
  code: string,
  text: string,
  end: number,
  answer: string,
): readonly TextChange[] {
  const head = findClosingBracket(code, end - 1);
  const colon = head === null ? -1 : code.indexOf(":", head);
  if (head === null || colon === -1) return [];
  const last = code[colon + 1] === "\n" ? colon : code.indexOf("\n", head) - 1;
  if (last < 0) return [];
  if (last !== colon && code[last] !== ":") {
    return insertText(code.lastIndexOf(":", last) + 1, ` return ${answer};`);
  } // its body is behind it

  const said = docstring.exec(text.slice(last + 1))?.[0] ?? "";
  const indent = /^\n\s*?([ \t]+)\S/.exec(text.slice(last + 1, last + 400))?.[1];
  return indent === undefined
    ? []
    : insertText(last + 1 + said.length, `\n${indent}return ${answer}`);
}

const docstring = /^\s*[rRuU]?(?:"""[\s\S]*?"""|'''[\s\S]*?''')[ \t]*(?=\n)/;

const insertText = (position: number, text: string): readonly TextChange[] => [
  { from: position, to: position, text },
];

const otherOperators: ReadonlyMap<string, string> = new Map([
  [" * ", " + "],
  [" + ", " - "],
  [" - ", " + "],
  [" / ", " * "],
  [" == ", " != "],
  [" != ", " == "],
]);

/** Some of its operators and literals changed, in lines that the work wrote (M2). */
function mutateTyped(
  code: string,
  text: string,
  from: number,
  to: number,
  isNew: (from: number, to: number) => boolean,
): readonly TextChange[] {
  const region = code.slice(from, to);
  const changes = [
    ...region.matchAll(
      /(?<=[\w)\]]) (?:[*+/-]|[=!]=) (?=[\w(])|\b(?:true|false)\b|(?<![\w.$#"'[])\d{1,9}(?![\w.'"\]])/g,
    ),
    ...region.matchAll(/"[^"\n]+"/g),
  ].flatMap(({ 0: token, index }) => {
    const [start, end] = [from + index, from + index + token.length];
    const replacement = otherOperators.get(token) ?? toAdjacentLiteral(text.slice(start, end)); // in `code` strings are blank
    return isNew(start, start) ? [{ from: start, to: end, text: replacement }] : [];
  });
  return shuffle(changes, text, (change) => String(change.from)).slice(0, changesMax);
}
