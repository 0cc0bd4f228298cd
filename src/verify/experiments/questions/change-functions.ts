// change-functions: finds the functions of a file that the work wrote, and changes each so that it
// returns something else. Pure.
//
// Invariants:
//   M1. Only new code is changed: a function counts if one of its lines is not in the file before.
//   M2. If the language allows it, a function returns a value made for this run; if types forbid
//       that, literals and operators in it are changed.

import { detectLanguage } from "../../protected/kinds.ts";
import { detectSourceLanguage, type SourceLanguage } from "../../protected/source-language.ts";
import { maskText } from "../../protected/mask-text.ts";
import { findClosingBracket } from "../source-text/brackets.ts";
import { findRustTestModules, isInside } from "../source-text/rust-places.ts";
import { createLineCounter } from "../source-text/test-cases.ts";
import { shuffle } from "../broken-expectations/choose-flips.ts";
import { toAdjacentLiteral } from "../broken-expectations/literal-flips.ts";
import { applyChanges, type TextChange } from "../source-text/apply-changes.ts";

/** A file before the work (null: there was none) and after it. */
export type Source = { readonly path: string; readonly was: string | null; readonly is: string };
/** A function that the work wrote, and what changes its answer. */
export type WrittenFunction = {
  readonly path: string;
  readonly name: string;
  readonly line: number;
  readonly changes: readonly TextChange[];
};

/** Larger files are not looked through. */
export const textCharsMax = 400_000;
/** How many operators and literals of one function are changed. */
const changesMax = 3;
/** How far behind a function's parameters its `=>` or `{` may be: room for a return type. */
const returnTypeCharsMax = 300;
/** How far behind `=>` the brace of its body may be. */
const braceCharsMax = 40;
/** How far behind a Python function's head its first statement may begin. */
const firstStatementCharsMax = 400;

/** How functions of a language begin. Each pattern ends right behind the `(` or `=>` of the head. */
type FunctionHead = readonly [languages: readonly SourceLanguage[], pattern: RegExp];
const functionHeads: readonly FunctionHead[] = [
  // `function two(`, `function* two<T>(`
  [["js"], /\bfunction\s*\*?\s*([\w$]+)\s*(?:<[^>(]*>)?\(/g],
  // `const two = (`, `exports.two = async function (`, `let two: Two = <T>(`
  [
    ["js"],
    /(?:\b(?:const|let|var)\s+|\bexports\.)([\w$]+)\s*(?::[^=;\n]+)?=\s*(?:async\s*)?(?:function\b[^(]*)?(?:<[^>(]*>)?\(/g,
  ],
  // `const two = value =>`
  [["js"], /(?:\b(?:const|let|var)\s+|\bexports\.)([\w$]+)\s*=\s*(?:async\s+)?[\w$]+\s*=>/g],
  // `  static async two(` of a class or an object, if its body begins on the same line
  [
    ["js"],
    /^[ \t]+(?:static\s+|async\s+|public\s+|private\s+)*(?!(?:if|for|while|switch|catch|constructor|return|function)\b)([\w$]+)\s*\((?=[^;\n]*\{[^\n]*$)/gm,
  ],
  // `async def two(`, but not `def __init__(`
  [["py"], /^[ \t]*(?:async[ \t]+)?def[ \t]+(?!__)(\w+)[ \t]*\(/gm],
  // `func two(`, `func (t *Table) Two(`
  [["go"], /\bfunc\s+(?:\([^)]*\)\s*)?(\w+)\s*\(/g],
  // `fn two(`, `fn two<T: Copy>(`
  [["rust"], /\bfn\s+(\w+)\s*(?:<[^>(]*>)?\(/g],
  // `static char *two(`, `public List<String> two(`, if a body follows
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

/**
 * The functions of a file that the work wrote, each with the changes that make it give this answer.
 */
export function findFunctions(
  { path, was, is }: Source,
  answer: string,
): readonly WrittenFunction[] {
  const language = detectSourceLanguage(path);
  if (language === null) return [];
  const code = maskText(is, language);
  const lineAt = createLineCounter(is);
  const earlierLines = new Set((was ?? "").split("\n").map((line) => line.trim()));
  const lines = is.split("\n");
  const isNew = (from: number, to: number): boolean =>
    lines
      .slice(lineAt(from) - 1, lineAt(to))
      .some((line) => line.trim() !== "" && !earlierLines.has(line.trim()));

  const tests = language === "rust" ? findRustTestModules(code) : [];
  const heads = functionHeads
    .filter(([languages]) => languages.includes(language))
    .flatMap(([, pattern]) =>
      [...code.matchAll(pattern)].map(({ 0: open, 1: name = "", index }) => ({
        name,
        index,
        end: index + open.length,
      })),
    )
    .filter(({ index }) => !isInside(tests, index))
    .toSorted((left, right) => left.index - right.index);

  const mutate = (headEnd: number, functionEnd: number): readonly TextChange[] => {
    if (language === "js") return mutateJs(code, headEnd, answer, path);
    return language === "py"
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
  const arrow =
    code[end - 1] === "(" ? /^[^{;\n]*?=>/.exec(code.slice(head, head + returnTypeCharsMax)) : [""];
  const body =
    arrow === null ? /^[^;{]*\{/.exec(code.slice(head, head + returnTypeCharsMax)) : null;
  if (body !== null) return insertText(head + body[0].length, ` return ${text};`);
  if (arrow === null) return [];
  const from = head + (arrow[0] ?? "").length;
  const brace = /^\s*\{/.exec(code.slice(from, from + braceCharsMax));

  return brace === null
    ? insertText(from, ` true ? ${text} :`)
    : insertText(from + brace[0].length, ` return ${text};`);
}

/** `return ANSWER` as its first statement, behind its docstring: that may have examples (M2). */
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
  const isBodyOnSameLine = last !== colon && code[last] !== ":";
  if (isBodyOnSameLine) {
    return insertText(code.lastIndexOf(":", last) + 1, ` return ${answer};`);
  }

  const docstringText = docstring.exec(text.slice(last + 1))?.[0] ?? "";
  const indent = /^\n\s*?([ \t]+)\S/.exec(text.slice(last + 1, last + firstStatementCharsMax))?.[1];
  return indent === undefined
    ? []
    : insertText(last + 1 + docstringText.length, `\n${indent}return ${answer}`);
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
