// mutations: changes the work's own code so that it returns something else, to see whether its new tests notice. Pure.
//
// Invariants:
//   M1. Only new code is changed: functions that the work wrote and its tests call, all of them in one run.
//   M2. If the language allows it, a function returns a value made for this run; if types forbid that, literals and operators in it are
//       changed.
//   M3. A function is noticed if one test that calls it fails. A file that can no longer be loaded shows nothing.

import { type Language, languageOf } from "../../protected/kinds.ts";
import { maskText } from "../../protected/masked.ts";
import { findTestCases, closingBracket, isNameOfTest, isNameOfFile, lineCounter, type TestCase } from "../source/test-cases.ts";
import { shuffled } from "../flips/choose-flips.ts";
import { adjacentLiteral } from "../flips/literal-flips.ts";
import type { Observed } from "../flips/noticed-flips.ts";

type Source = { readonly path: string; readonly was: string | null; readonly is: string };
/** A function that the work wrote. */
type WrittenFunction = { readonly path: string; readonly name: string; readonly line: number; readonly changes: readonly Change[] };
type Change = { readonly from: number; readonly to: number; readonly text: string };
export type MutatedFunctions = {
  readonly edits: readonly { readonly path: string; readonly text: string }[];
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
  const cases = tests.flatMap(({ path, is }) => findTestCases(path, is)).filter(({ isSkipped }) => !isSkipped);
  const all = source.filter(({ is }) => is.length <= textCharsMax).flatMap((one) => findFunctions(one, JSON.stringify(nonce)));
  const isCalled = ({ path, name, changes }: WrittenFunction): boolean =>
    changes.length > 0 && isMeant(path, name) && cases.some((one) => calls(one, name));
  const called = all.filter(isCalled).slice(0, functionsMax); // M1
  const edits = source.flatMap(({ path, is }) => {
    const here = called.filter((one) => one.path === path).flatMap(({ changes }) => changes);
    return here.length === 0 ? [] : [{ path, text: applyChanges(is, here) }];
  });
  return edits.length === 0 ? null : { edits, functions: called, cases };
}

const calls = ({ text }: TestCase, name: string): boolean => new RegExp(`(?<![\\w$])${name.replaceAll("$", "\\$")}!?\\s*\\(`).test(text);

function applyChanges(text: string, changes: readonly Change[]): string {
  let [done, end] = [text, text.length];
  for (const { from, to, text: put } of changes.toSorted((one, next) => next.from - one.from)) {
    if (to > end) continue; // inside one that is changed already
    done = done.slice(0, from) + put + done.slice(to);
    end = from;
  }
  return done;
}

/** The changed functions that no test noticed; null if the run shows nothing. */
export function findUnnoticed({ functions, cases }: MutatedFunctions, before: Observed, now: Observed): readonly WrittenFunction[] | null {
  if (now.passed) return functions;
  const names = [...now.failed].filter((name) => !before.failed.has(name));
  const red = cases.filter((one) => names.some((name) => isNameOfTest(name, one)));
  const isLoaded = (path: string): boolean => red.some((one) => one.path === path) || !names.some((name) => isNameOfFile(name, path));
  if (names.length === 0 || !cases.every(({ path }) => isLoaded(path))) return null; // M3
  return functions.filter(({ name }) => !red.some((one) => calls(one, name)));
}

export const listFunctions = (defined: readonly WrittenFunction[]): string =>
  defined
    .slice(0, 3)
    .map(({ path, line, name }) => `${name} (${path}:${line})`)
    .join(", ") + (defined.length > 3 ? ` and ${defined.length - 3} more` : "");

type FunctionHead = readonly [family: readonly (Language | "c")[], form: RegExp];
const functionHeads: readonly FunctionHead[] = [
  [["js"], /\bfunction\s*\*?\s*([\w$]+)\s*(?:<[^>(]*>)?\(/g],
  [["js"], /(?:\b(?:const|let|var)\s+|\bexports\.)([\w$]+)\s*(?::[^=;\n]+)?=\s*(?:async\s*)?(?:function\b[^(]*)?(?:<[^>(]*>)?\(/g],
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

/** A file in which these functions give this answer, an expression of its language; null if none could be changed. JavaScript and Python. */
export function withAnswer(
  path: string,
  text: string,
  answer: string,
  isMeant: (name: string, fromLine: number, toLine: number) => boolean,
): string | null {
  if (!["js", "py"].includes(languageOf(path) ?? "") || text.length > textCharsMax) return null;
  const functions = findFunctions({ path, was: null, is: text }, answer);
  const changes = functions
    .filter(({ name, line }, index) => isMeant(name, line, (functions[index + 1]?.line ?? Number.POSITIVE_INFINITY) - 1))
    .flatMap((one) => one.changes);
  return changes.length === 0 ? null : applyChanges(text, changes);
}

function findFunctions({ path, was, is }: Source, answer: string): readonly WrittenFunction[] {
  const isC = /\.(?:c|cc|cpp|cxx|h|hpp)$/.test(path);
  const family = isC ? "c" : languageOf(path);
  if (family === null) return [];
  const code = maskText(is, isC ? "java" : (family as Language));
  const lineAt = lineCounter(is);
  const old = new Set((was ?? "").split("\n").map((line) => line.trim()));
  const lines = is.split("\n");
  const isNew = (from: number, to: number): boolean =>
    lines.slice(lineAt(from) - 1, lineAt(to)).some((line) => line.trim() !== "" && !old.has(line.trim()));
  const found = functionHeads
    .filter(([families]) => families.includes(family))
    .flatMap(([, form]) => [...code.matchAll(form)].map(({ 0: open, 1: name = "", index }) => ({ name, index, end: index + open.length })))
    .toSorted((one, next) => one.index - next.index);
  return found.flatMap(({ name, index, end }, at) => {
    const until = found[at + 1]?.index ?? is.length;
    if (!isNew(index, Math.max(index, until - 1))) return []; // M1
    const changes =
      family === "js"
        ? mutateJs(code, end, answer, path)
        : family === "py"
          ? mutatePython(code, end, answer)
          : mutateTyped(code, is, end, until, isNew);
    return [{ path, name, line: lineAt(index), changes }];
  });
}

/** M2 */
function mutateJs(code: string, end: number, answer: string, path: string): readonly Change[] {
  const text = /\.[cm]?tsx?$/.test(path) ? `(${answer} as never)` : answer;
  const head = code[end - 1] === "(" ? closingBracket(code, end - 1) : end;
  if (head === null) return [];
  const arrow = code[end - 1] === "(" ? /^[^{;\n]*?=>/.exec(code.slice(head, head + 300)) : [""];
  const body = arrow === null ? /^[^;{]*\{/.exec(code.slice(head, head + 300)) : null;
  if (body !== null) return insertText(head + body[0].length, ` return ${text};`);
  if (arrow === null) return [];
  const from = head + (arrow[0] ?? "").length;
  const brace = /^\s*\{/.exec(code.slice(from, from + 40));
  return brace === null ? insertText(from, ` true ? ${text} :`) : insertText(from + brace[0].length, ` return ${text};`);
}

function mutatePython(code: string, end: number, answer: string): readonly Change[] {
  const head = closingBracket(code, end - 1);
  const colon = head === null ? -1 : code.indexOf(":", head);
  if (head === null || colon === -1) return [];
  const last = code[colon + 1] === "\n" ? colon : code.indexOf("\n", head) - 1;
  if (last < 0) return [];
  if (last !== colon && code[last] !== ":") return insertText(code.lastIndexOf(":", last) + 1, ` return ${answer};`); // its body is behind it
  const indent = /^\n\s*?([ \t]+)\S/.exec(code.slice(last + 1, last + 400))?.[1];
  return indent === undefined ? [] : insertText(last + 1, `\n${indent}return ${answer}`);
}

const insertText = (position: number, text: string): readonly Change[] => [{ from: position, to: position, text }];

const otherOperators: ReadonlyMap<string, string> = new Map([
  [" * ", " + "],
  [" + ", " - "],
  [" - ", " + "],
  [" / ", " * "],
  [" == ", " != "],
  [" != ", " == "],
]);

function mutateTyped(
  code: string,
  text: string,
  from: number,
  to: number,
  isNew: (from: number, to: number) => boolean,
): readonly Change[] {
  const region = code.slice(from, to);
  const found = [
    ...region.matchAll(/(?<=[\w)\]]) (?:[*+/-]|[=!]=) (?=[\w(])|\b(?:true|false)\b|(?<![\w.$#"'[])\d{1,9}(?![\w.'"\]])/g),
    ...region.matchAll(/"[^"\n]+"/g),
  ].flatMap(({ 0: was, index }) => {
    const position = from + index;
    const put = otherOperators.get(was) ?? adjacentLiteral(text.slice(position, position + was.length));
    return isNew(position, position) ? [{ from: position, to: position + was.length, text: put }] : [];
  });
  return shuffled(found, text, (one) => String(one.from)).slice(0, changesMax);
}
