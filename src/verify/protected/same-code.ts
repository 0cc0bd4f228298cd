// same-code: tells whether two texts are the same code, laid out in another way: what formatters
// change, and `const` in place of `var`. Pure. Not for Python, where the layout is part of the code.
// Comments have to stay as they are: some are expectations (`// Output: 42` of an example in Go).

import { type CodePart, splitCode } from "./mask-text.ts";
import { detectSourceLanguage, type SourceLanguage } from "./source-language.ts";

/** The same text for the same code of a file, whatever its layout; for Python the text itself. */
export function keyOfCode(path: string, text: string): string {
  const language = detectSourceLanguage(path);
  return language === null || language === "py"
    ? text.trim()
    : normalize(splitCode(text, language), language);
}

export function isSameCode(before: string, after: string, language: SourceLanguage): boolean {
  if (language === "py") return false;
  const [earlier, later] = [splitCode(before, language), splitCode(after, language)];
  return (
    (language !== "js" || countVars(later) <= countVars(earlier)) &&
    normalize(earlier, language) === normalize(later, language)
  );
}

/** Callbacks in a loop see the last value of a `var`: so it may be replaced, and not put in. */
const countVars = (parts: readonly CodePart[]): number =>
  parts.reduce(
    (count, { kind, text }) =>
      count + (kind === "code" ? (text.match(/\bvar\b/g) ?? []).length : 0),
    0,
  );

function normalize(parts: readonly CodePart[], language: SourceLanguage): string {
  const texts = parts.map(({ kind, text }) => {
    if (kind === "comment") return `\0${text.trim()}\0`;
    if (kind === "code") return language === "js" ? normalizeJs(text) : keepReturns(text);
    return language === "js" ? text.replace(/^'([^'"\\]*)'$/, '"$1"') : text;
  });

  // Strings stand between zeros, so that nothing in them is taken for code.
  const code = texts.map((text, index) => (parts[index]?.kind === "string" ? `\0${text}\0` : text));
  return code
    .join("")
    .split("\0")
    .map((text, index) => (index % 2 === 1 ? text : closeUp(text)))
    .join("\0");
}

const normalizeJs = (code: string): string =>
  keepReturns(code)
    .replaceAll(/\b(?:var|let)\b/g, "const")
    .replaceAll(";", " ");

/** A line end behind `return` ends the statement. */
const keepReturns = (code: string): string =>
  code.replaceAll(/\b(return|throw|break|continue|yield)[ \t]*\n/g, "$1 ¶ ");

const closeUp = (code: string): string =>
  code
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ?([^\w$ ]) ?/g, "$1")
    .replaceAll(/,([)\]}])/g, "$1")
    .replaceAll(/\((\w+)\)=>/g, "$1=>")
    .trim();
