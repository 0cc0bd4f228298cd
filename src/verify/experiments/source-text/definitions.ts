// definitions: finds the named definitions in a source file, each with its whole text: functions,
// methods, constants, macros. Pure.
//
// Invariants:
//   D1. There is no parser: a header is recognised by its form, and the end by counting brackets
//       and indents, without comments and strings.
//   D2. A name that a file defines twice is left out: which one is meant is unknown.

import { detectSourceLanguage, type SourceLanguage } from "../../protected/source-language.ts";
import { maskText } from "../../protected/mask-text.ts";
import { findClosingBracket } from "./brackets.ts";
import { createLineCounter } from "./test-cases.ts";

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

/** What ends a definition. */
type End = "braces" | "statement" | "indent" | "line";
type Form = readonly [languages: readonly SourceLanguage[], header: RegExp, end: End];

const forms: readonly Form[] = [
  [
    ["js"],
    /^[ \t]*(?:export\s+(?:default\s+)?)?(?:async\s+)?function\s*\*?\s*([\w$]+)\s*(?:<[^>(]*>)?\(/gm,
    "braces",
  ],
  [["js"], /^(?:export\s+)?(?:const|let|var)\s+([\w$]+)\s*(?::[^=;\n]+)?=(?![=>])/gm, "statement"],
  [["js"], /^(?:module\.)?exports\.([\w$]+)\s*=(?![=>])/gm, "statement"],
  [
    ["js"],
    /^[ \t]+(?:(?:static|async|public|private|protected|override|get|set)\s+)*\*?(?!(?:if|for|while|switch|catch|constructor|return|function|else|new)\b)([\w$]+)\s*(?:<[^>(]*>)?\((?=[^;\n]*\{)/gm,
    "braces",
  ],
  [["py"], /^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)[ \t]*\(/gm, "indent"],
  [["py"], /^([A-Za-z_]\w*)[ \t]*(?::[^=\n]+)?=(?!=)/gm, "line"],
  [["go"], /^func\s+(?:\([^)]*\)\s*)?(\w+)\s*(?:\[(?:[^[\]]|\[[^[\]]*\])*\])?\(/gm, "braces"],
  [["go"], /^(?:const|var)\s+(\w+)(?:\s+\w+)?\s*=/gm, "line"],
  [
    ["rust"],
    /^[ \t]*(?:pub(?:\([^)]*\))?\s+)?(?:(?:const|async|unsafe|extern|default)\s+)*fn\s+(\w+)\s*(?:<(?:[^<>()]|->|<[^<>]*>|\([^()]*\))*>)?\(/gm,
    "braces",
  ],
  [
    ["rust"],
    /^[ \t]*(?:pub(?:\([^)]*\))?\s+)?(?:const|static)\s+(\w+)\s*:[^=;\n]+=/gm,
    "statement",
  ],
  [["c"], /^[ \t]*#[ \t]*define[ \t]+(\w+)\b/gm, "line"],
  [
    ["c", "java"],
    /^[ \t]*(?!(?:return|else|new|throw|goto|case)\b)(?:[\w*<>[\],]+[ \t]+)+\*?(\w+)[ \t]*\((?=[^;{}]*\)[^;{}]*\{)/gm,
    "braces",
  ],
  [
    ["c"],
    /^(?!#)[A-Za-z_][\w \t*]*\n(?!(?:if|for|while|switch)\b)(\w+)[ \t]*\((?=[^;{}]*\)[^;{}]*\{)/gm,
    "braces",
  ],
  [
    ["c", "java"],
    /^[ \t]*(?!(?:return|else|goto|case|typedef)\b)(?:[\w*<>[\]]+[ \t]+)+\*?(\w+)[ \t]*=(?!=)/gm,
    "statement",
  ],
];

const textCharsMax = 400_000;
const perlFile = /\.p[lm]$/;

/** The functions among the definitions; in Perl each reaches to the next. */
export function findFunctions(path: string, text: string): readonly Definition[] {
  if (!perlFile.test(path)) return findDefinitions(path, text).filter((one) => one.isFunction);
  if (text.length > textCharsMax) return [];
  const lineAt = createLineCounter(text);
  const heads = [...text.matchAll(/^[ \t]*sub[ \t]+(\w+)/gm)];

  return heads.map(({ 1: name = "", index: from }, position) => {
    const to = heads[position + 1]?.index ?? text.length;
    return {
      path,
      name,
      line: lineAt(from),
      from,
      to,
      text: text.slice(from, to),
      isFunction: true,
    };
  });
}

export function findDefinitions(path: string, text: string): readonly Definition[] {
  const language = detectSourceLanguage(path);
  if (language === null || text.length > textCharsMax) return [];
  const code = blankAttributes(maskText(text, language), language);
  const lineAt = createLineCounter(text);

  const definitions = forms
    .filter(([languages]) => languages.includes(language))
    .flatMap(([, header, end]) =>
      [...code.matchAll(header)].flatMap(
        ({ 0: open, 1: name = "", index }): readonly Definition[] => {
          const from = index + (/^\s*/.exec(open)?.[0].length ?? 0);
          const to = findEnd(code, index, index + open.length, end);
          if (to === null) return [];
          const isFunction =
            end === "braces" ||
            end === "indent" ||
            /^[^\n]*(?:=>|=\s*(?:async\s+)?function\b|\w\()/.test(code.slice(from, to));

          return [
            { path, name, line: lineAt(from), from, to, text: text.slice(from, to), isFunction },
          ];
        },
      ),
    );
  return definitions.filter(
    ({ name }) => definitions.filter((definition) => definition.name === name).length === 1,
  ); // D2
}

/** What stands beside the words of a header and says nothing of its form. */
const attributes: Partial<Record<SourceLanguage, RegExp>> = {
  c: /\b(?:__attribute__|__declspec|__asm__|alignas|_Alignas)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\[\[[^[\]]*\]\]|\bextern\s+"[^"\n]*"/g,
  java: /@\w[\w.]*(?:\([^()\n]*\))?/g,
  rust: /\bextern\s+"[^"\n]*"/g,
};

const blankAttributes = (code: string, language: SourceLanguage): string => {
  const pattern = attributes[language];
  return pattern === undefined
    ? code
    : code.replace(pattern, (found) => found.replaceAll(/[^\n]/g, " "));
};

/**
 * `start` and `headerEnd`: where the matched header begins and ends; for braces and indents it ends
 * with the opening parenthesis.
 */
function findEnd(code: string, start: number, headerEnd: number, end: End): number | null {
  if (end === "line") return findLineEnd(code, headerEnd);
  if (end === "statement") return findStatementEnd(code, headerEnd);
  const parametersEnd = findClosingBracket(code, headerEnd - 1);
  if (parametersEnd === null) return null;
  if (end === "indent") {
    return findIndentedEnd(code, parametersEnd, /^[ \t]*/.exec(code.slice(start))?.[0] ?? "");
  }

  const brace = code.indexOf("{", parametersEnd);
  return brace === -1 ? null : findClosingBracket(code, brace);
}

/** The end of a logical line: an open bracket or a backslash continues it. */
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

/**
 * The semicolon that ends a statement, or the end of a line that neither leaves something open nor
 * is continued by the next.
 */
function findStatementEnd(code: string, from: number): number {
  let depth = 0;
  for (let index = from; index < code.length; index += 1) {
    const letter = code[index] ?? "";
    if ("([{".includes(letter)) depth += 1;
    if (")]}".includes(letter)) depth -= 1;
    if (depth > 0) continue;
    if (letter === ";") return index + 1;
    const isWhole =
      letter === "\n" &&
      code.slice(from, index).trim() !== "" &&
      !/(?:=>|[-+*/%&|?:,=(])\s*$/.test(code.slice(from, index));
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
    if (line.trim() !== "" && !(line.startsWith(indent) && /^\s/.test(line.slice(indent.length)))) {
      break;
    }

    if (line.trim() !== "") end = stop;
    to = stop;
  }

  return end;
}

/** Definitions of the same name that differ between two versions of a file. */
export function findRedefined(
  path: string,
  was: string,
  is: string,
): readonly { readonly was: Definition; readonly is: Definition }[] {
  const before = new Map(
    findDefinitions(path, was).map((definition) => [definition.name, definition]),
  );

  return findDefinitions(path, is).flatMap((definition) => {
    const earlier = before.get(definition.name);
    return earlier === undefined || removeSpace(earlier.text) === removeSpace(definition.text)
      ? []
      : [{ was: earlier, is: definition }];
  });
}

export const removeSpace = (text: string): string => text.replaceAll(/\s+/g, "");
