// mask-text: blanks out the comments and string contents of a source text, so that only code is
// searched and positions stay the same. It is a scanner, not a parser: what it misreads it misreads
// alike before and after a change.

import type { SourceLanguage } from "./source-language.ts";

/** `escapes`: whether a backslash escapes the next character. */
type Rule = readonly [open: string, close: string, escapes: boolean];

const slashes: readonly Rule[] = [
  ["//", "\n", false],
  ["/*", "*/", false],
];
const javaRules: readonly Rule[] = [
  ...slashes,
  ['"""', '"""', true],
  ['"', '"', true],
  ["'", "'", true],
];
const rules: Readonly<Record<SourceLanguage, readonly Rule[]>> = {
  js: [...slashes, ['"', '"', true], ["'", "'", true], ["`", "`", true]],
  py: [
    ['"""', '"""', true],
    ["'''", "'''", true],
    ["#", "\n", false],
    ['"', '"', true],
    ["'", "'", true],
  ],
  go: [...slashes, ['"', '"', true], ["`", "`", false], ["'", "'", true]],
  rust: [...slashes, ['"', '"', true]],
  java: javaRules,
  c: javaRules,
};

/**
 * `spans`: with `comments`, strings are left as they are. Perl is masked by Python's rules, since
 * its comments and strings have the same form.
 */
export function maskText(
  text: string,
  family: SourceLanguage,
  spans: "all" | "comments" = "all",
): string {
  const chunks: string[] = [];
  let position = 0;
  while (position < text.length) {
    const span = findSpan(text, position, family);
    if (span === null) {
      chunks.push(text[position] ?? "");
      position++;
      continue;
    }

    const [from, to] = span.inner;
    if (spans === "comments" && !/^(?:\/[/*]|#)/.test(text.slice(position, position + 2))) {
      chunks.push(text.slice(position, span.to));
    } else {
      chunks.push(
        text.slice(position, from),
        text.slice(from, to).replaceAll(/[^\n]/g, " "),
        text.slice(to, span.to),
      );
    }

    position = span.to;
  }

  return chunks.join("");
}

export type CodePart = { readonly kind: "code" | "string" | "comment"; readonly text: string };

/** The text in parts: code, strings with their quotes, and comments. */
export function splitCode(text: string, family: SourceLanguage): readonly CodePart[] {
  const parts: CodePart[] = [];
  let codeFrom = 0;
  let position = 0;
  while (position < text.length) {
    const span = findSpan(text, position, family);
    if (span === null) {
      position++;
      continue;
    }

    const spanText = text.slice(position, span.to);
    if (codeFrom < position) parts.push({ kind: "code", text: text.slice(codeFrom, position) });
    parts.push({ kind: /^(?:\/[/*]|#)/.test(spanText) ? "comment" : "string", text: spanText });
    position = span.to;
    codeFrom = span.to;
  }

  if (codeFrom < text.length) parts.push({ kind: "code", text: text.slice(codeFrom) });
  return parts;
}

/** A comment or string: `inner` is what is blanked out, `to` the position behind it. */
type Span = { readonly inner: readonly [number, number]; readonly to: number };

function findSpan(text: string, position: number, family: SourceLanguage): Span | null {
  if (family === "rust") {
    const raw = /^b?r(#*)"/.exec(text.slice(position, position + 20));
    if (raw !== null && !/\w/.test(text[position - 1] ?? "")) {
      return findSpanEnd({
        text,
        position,
        openLength: raw[0].length,
        close: `"${raw[1] ?? ""}`,
        escapes: false,
      });
    }

    const charLiteral = /^'(?:\\u\{[^}]*\}|\\.|[^'\\\n])'/.exec(
      text.slice(position, position + 14),
    ); // a lifetime has no closing quote
    if (charLiteral !== null) {
      return {
        inner: [position + 1, position + charLiteral[0].length - 1],
        to: position + charLiteral[0].length,
      };
    }
  }

  if (family === "js" && text[position] === "/" && !/[/*]/.test(text[position + 1] ?? "")) {
    return findRegexSpan(text, position);
  }

  const rule = rules[family].find(([open]) => text.startsWith(open, position));
  if (rule === undefined) return null;
  const [open, close, escapes] = rule;

  return findSpanEnd({ text, position, openLength: open.length, close, escapes });
}

type SpanStart = {
  readonly text: string;
  readonly position: number;
  readonly openLength: number;
  readonly close: string;
  readonly escapes: boolean;
};

function findSpanEnd({ text, position, openLength, close, escapes }: SpanStart): Span {
  const isInOneLine = close === "\n" || (close.length === 1 && close !== "`");
  for (let to = position + openLength; to < text.length; to++) {
    if (escapes && text[to] === "\\") {
      to++;
    } else if (close === "`" && escapes && text.startsWith("${", to)) {
      to = findInterpolationEnd(text, to + 2);
    } else if (text.startsWith(close, to)) {
      return { inner: [position + openLength, to], to: close === "\n" ? to : to + close.length };
    }
    // A string that does not close ends with its line.
    else if (isInOneLine && escapes && text[to] === "\n") {
      return { inner: [position + openLength, to], to };
    }
  }

  return { inner: [Math.min(position + openLength, text.length), text.length], to: text.length };
}

/** The brace that closes the code inside a template string, which may have strings of its own. */
function findInterpolationEnd(text: string, from: number): number {
  let depth = 1;
  for (let position = from; position < text.length; position++) {
    const span = findSpan(text, position, "js");
    if (span !== null) {
      position = span.to - 1;
      continue;
    }

    if (text[position] === "{") depth++;
    if (text[position] === "}") depth--;
    if (depth === 0) return position;
  }

  return text.length;
}

/** A regular expression: only where a value may begin, since elsewhere `/` divides. */
const regexCharsMax = 20_000;

function findRegexSpan(text: string, position: number): Span | null {
  if (
    !/(?:^|[(,=:[!&|?{};+\n]|=>|\breturn|\btypeof|\bcase|\bvoid|\bin|\bof)\s*$/.test(
      text.slice(Math.max(0, position - 12), position),
    )
  ) {
    return null;
  }

  const match = /^\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//.exec(
    text.slice(position, position + regexCharsMax),
  );
  return match === null
    ? null
    : { inner: [position + 1, position + match[0].length - 1], to: position + match[0].length };
}
