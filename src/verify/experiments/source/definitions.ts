// definitions: the named definitions in a source file, each with its whole text: functions, methods, constants, macros. Pure.
//
// Invariants:
//   D1. No parser: headers by their form, ends by counting brackets and indents in text without comments and strings.
//   D2. A name that a file defines twice is left out: which one is meant is unknown.

import { type Language, languageOf } from "../../protected/kinds.ts";
import { maskText } from "../../protected/masked.ts";
import { closingBracket, lineCounter } from "./test-cases.ts";

export type Definition = {
  readonly path: string;
  readonly name: string;
  /** From 1. */
  readonly line: number;
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly isFunction: boolean;
};

type Sort = Language | "c";
type End = "braces" | "statement" | "indent" | "line";
type Form = readonly [sorts: readonly Sort[], header: RegExp, end: End];

const forms: readonly Form[] = [
  [["js"], /^[ \t]*(?:export\s+(?:default\s+)?)?(?:async\s+)?function\s*\*?\s*([\w$]+)\s*(?:<[^>(]*>)?\(/gm, "braces"],
  [["js"], /^(?:export\s+)?(?:const|let|var)\s+([\w$]+)\s*(?::[^=;\n]+)?=(?![=>])/gm, "statement"],
  [["js"], /^(?:module\.)?exports\.([\w$]+)\s*=(?![=>])/gm, "statement"],
  [
    ["js"],
    /^[ \t]+(?:static\s+|async\s+|public\s+|private\s+)*(?!(?:if|for|while|switch|catch|constructor|return|function|else|new)\b)([\w$]+)\s*\((?=[^;\n]*\{)/gm,
    "braces",
  ],
  [["py"], /^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)[ \t]*\(/gm, "indent"],
  [["py"], /^([A-Za-z_]\w*)[ \t]*(?::[^=\n]+)?=(?!=)/gm, "line"],
  [["go"], /^func\s+(?:\([^)]*\)\s*)?(\w+)\s*\(/gm, "braces"],
  [["go"], /^(?:const|var)\s+(\w+)(?:\s+\w+)?\s*=/gm, "line"],
  [["rust"], /^[ \t]*(?:pub(?:\([^)]*\))?\s+)?(?:const\s+|async\s+|unsafe\s+)*fn\s+(\w+)\s*(?:<[^>(]*>)?\(/gm, "braces"],
  [["rust"], /^[ \t]*(?:pub(?:\([^)]*\))?\s+)?(?:const|static)\s+(\w+)\s*:[^=;\n]+=/gm, "statement"],
  [["c"], /^[ \t]*#[ \t]*define[ \t]+(\w+)\b/gm, "line"],
  [
    ["c", "java"],
    /^[ \t]*(?!(?:return|else|new|throw|goto|case)\b)(?:[\w*<>[\],]+[ \t]+)+\*?(\w+)[ \t]*\((?=[^;{}]*\)[^;{}]*\{)/gm,
    "braces",
  ],
  [["c", "java"], /^[ \t]*(?!(?:return|else|goto|case|typedef)\b)(?:[\w*<>[\]]+[ \t]+)+\*?(\w+)[ \t]*=(?!=)/gm, "statement"],
];

const cFile = /\.(?:c|cc|cpp|cxx|h|hpp)$/;
const textCharsMax = 400_000;

export function findDefinitions(path: string, text: string): readonly Definition[] {
  const sort: Sort | null = cFile.test(path) ? "c" : languageOf(path);
  if (sort === null || text.length > textCharsMax) return [];
  const code = maskText(text, sort === "c" ? "java" : sort);
  const lineAt = lineCounter(text);
  const found = forms
    .filter(([sorts]) => sorts.includes(sort))
    .flatMap(([, header, end]) =>
      [...code.matchAll(header)].flatMap(({ 0: open, 1: name = "", index }): readonly Definition[] => {
        const from = index + (/^\s*/.exec(open)?.[0].length ?? 0);
        const to = findEnd(code, index, index + open.length, end);
        if (to === null) return [];
        const isFunction =
          end === "braces" || end === "indent" || /^[^\n]*(?:=>|=\s*(?:async\s+)?function\b|\w\()/.test(code.slice(from, to));
        return [{ path, name, line: lineAt(from), from, to, text: text.slice(from, to), isFunction }];
      }),
    );
  return found.filter(({ name }) => found.filter((one) => one.name === name).length === 1); // D2
}

function findEnd(code: string, start: number, behind: number, end: End): number | null {
  if (end === "line") return findLineEnd(code, behind);
  if (end === "statement") return findStatementEnd(code, behind);
  const head = closingBracket(code, behind - 1);
  if (head === null) return null;
  if (end === "indent") return findIndentedEnd(code, head, /^[ \t]*/.exec(code.slice(start))?.[0] ?? "");
  const brace = code.indexOf("{", head);
  return brace === -1 ? null : closingBracket(code, brace);
}

/** The end of a line; after an open bracket or a backslash, of the next. */
function findLineEnd(code: string, from: number): number {
  let depth = 0;
  for (let index = from; index < code.length; index += 1) {
    const letter = code[index] ?? "";
    if ("([{".includes(letter)) depth += 1;
    if (")]}".includes(letter)) depth -= 1;
    if (letter === "\n" && depth <= 0 && code[index - 1] !== "\\") return index;
  }
  return code.length;
}

/** The semicolon that ends it, or the line that is complete and not continued. */
function findStatementEnd(code: string, from: number): number {
  let depth = 0;
  for (let index = from; index < code.length; index += 1) {
    const letter = code[index] ?? "";
    if ("([{".includes(letter)) depth += 1;
    if (")]}".includes(letter)) depth -= 1;
    if (depth > 0) continue;
    if (letter === ";") return index + 1;
    const isWhole = letter === "\n" && code.slice(from, index).trim() !== "" && !/(?:=>|[-+*/%&|?:,=(])\s*$/.test(code.slice(from, index));
    if (isWhole && !/^\s*[-+*/%&|?:.=]/.test(code.slice(index, index + 80))) return index;
  }
  return code.length;
}

function findIndentedEnd(code: string, from: number, indent: string): number {
  let to = findLineEnd(code, from);
  let end = to;
  while (to < code.length) {
    const next = code.indexOf("\n", to + 1);
    const stop = next === -1 ? code.length : next;
    const line = code.slice(to + 1, stop);
    if (line.trim() !== "" && !(line.startsWith(indent) && /^\s/.test(line.slice(indent.length)))) break;
    if (line.trim() !== "") end = stop;
    to = stop;
  }
  return end;
}

/** Names that both texts define, and differently. */
export function findRedefined(path: string, was: string, is: string): readonly { readonly was: Definition; readonly is: Definition }[] {
  const before = new Map(findDefinitions(path, was).map((one) => [one.name, one]));
  return findDefinitions(path, is).flatMap((one) => {
    const old = before.get(one.name);
    return old === undefined || withoutSpace(old.text) === withoutSpace(one.text) ? [] : [{ was: old, is: one }];
  });
}

export const withoutSpace = (text: string): string => text.replaceAll(/\s+/g, "");
