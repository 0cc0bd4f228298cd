// masked: source text with comments and string contents blanked out, character by character, so that only code is counted and positions
// stay the same. It is a scanner for counting, not a parser: it misreads before and after alike.

import type { Family } from "./kinds.ts";

type Rule = readonly [open: string, close: string, escapes: boolean];

const slashes: readonly Rule[] = [
  ["//", "\n", false],
  ["/*", "*/", false],
];
const rules: Readonly<Record<Family, readonly Rule[]>> = {
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
  java: [...slashes, ['"""', '"""', true], ['"', '"', true], ["'", "'", true]],
};

/** `comments`: strings are left as they are. */
export function masked(text: string, family: Family, what: "all" | "comments" = "all"): string {
  const out: string[] = [];
  let position = 0;
  while (position < text.length) {
    const end = skipped(text, position, family);
    if (end === null) {
      out.push(text[position] ?? "");
      position++;
      continue;
    }
    const [from, to] = end.inner;
    if (what === "comments" && !/^(?:\/[/*]|#)/.test(text.slice(position, position + 2))) out.push(text.slice(position, end.to));
    else out.push(text.slice(position, from), text.slice(from, to).replaceAll(/[^\n]/g, " "), text.slice(to, end.to));
    position = end.to;
  }
  return out.join("");
}

type Span = { readonly inner: readonly [number, number]; readonly to: number };

function skipped(text: string, position: number, family: Family): Span | null {
  if (family === "rust") {
    const raw = /^b?r(#*)"/.exec(text.slice(position, position + 20));
    if (raw !== null && !/\w/.test(text[position - 1] ?? "")) return until(text, position, raw[0].length, `"${raw[1] ?? ""}`, false);
    const letter = /^'(?:\\u\{[^}]*\}|\\.|[^'\\\n])'/.exec(text.slice(position, position + 14)); // a lifetime has no closing quote
    if (letter !== null) return { inner: [position + 1, position + letter[0].length - 1], to: position + letter[0].length };
  }
  if (family === "js" && text[position] === "/" && !/[/*]/.test(text[position + 1] ?? "")) return expression(text, position);
  const rule = rules[family].find(([open]) => text.startsWith(open, position));
  if (rule === undefined) return null;
  const [open, close, escapes] = rule;
  return until(text, position, open.length, close, escapes);
}

function until(text: string, position: number, openLength: number, close: string, escapes: boolean): Span {
  const isLine = close === "\n" || (close.length === 1 && close !== "`");
  for (let to = position + openLength; to < text.length; to++) {
    if (escapes && text[to] === "\\") to++;
    else if (text.startsWith(close, to)) return { inner: [position + openLength, to], to: close === "\n" ? to : to + close.length };
    else if (isLine && escapes && text[to] === "\n") return { inner: [position + openLength, to], to }; // a string that does not close ends with its line
  }
  return { inner: [Math.min(position + openLength, text.length), text.length], to: text.length };
}

/** A regular expression, where a value may begin and a division cannot. */
function expression(text: string, position: number): Span | null {
  if (!/(?:^|[(,=:[!&|?{};+\n]|\breturn|\btypeof)\s*$/.test(text.slice(Math.max(0, position - 12), position))) return null;
  const match = /^\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//.exec(text.slice(position, position + 1000));
  return match === null ? null : { inner: [position + 1, position + match[0].length - 1], to: position + match[0].length };
}
