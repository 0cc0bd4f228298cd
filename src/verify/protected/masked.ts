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
  let at = 0;
  while (at < text.length) {
    const end = skipped(text, at, family);
    if (end === null) {
      out.push(text[at] ?? "");
      at++;
      continue;
    }
    const [from, to] = end.inner;
    if (what === "comments" && !/^(?:\/[/*]|#)/.test(text.slice(at, at + 2))) out.push(text.slice(at, end.to));
    else out.push(text.slice(at, from), text.slice(from, to).replaceAll(/[^\n]/g, " "), text.slice(to, end.to));
    at = end.to;
  }
  return out.join("");
}

type Span = { readonly inner: readonly [number, number]; readonly to: number };

function skipped(text: string, at: number, family: Family): Span | null {
  if (family === "rust") {
    const raw = /^b?r(#*)"/.exec(text.slice(at, at + 20));
    if (raw !== null && !/\w/.test(text[at - 1] ?? "")) return until(text, at, raw[0].length, `"${raw[1] ?? ""}`, false);
    const letter = /^'(?:\\u\{[^}]*\}|\\.|[^'\\\n])'/.exec(text.slice(at, at + 14)); // a lifetime has no closing quote
    if (letter !== null) return { inner: [at + 1, at + letter[0].length - 1], to: at + letter[0].length };
  }
  if (family === "js" && text[at] === "/" && !/[/*]/.test(text[at + 1] ?? "")) return expression(text, at);
  const rule = rules[family].find(([open]) => text.startsWith(open, at));
  if (rule === undefined) return null;
  const [open, close, escapes] = rule;
  return until(text, at, open.length, close, escapes);
}

function until(text: string, at: number, openLength: number, close: string, escapes: boolean): Span {
  const isLine = close === "\n" || (close.length === 1 && close !== "`");
  for (let to = at + openLength; to < text.length; to++) {
    if (escapes && text[to] === "\\") to++;
    else if (text.startsWith(close, to)) return { inner: [at + openLength, to], to: close === "\n" ? to : to + close.length };
    else if (isLine && escapes && text[to] === "\n") return { inner: [at + openLength, to], to }; // a string that does not close ends with its line
  }
  return { inner: [Math.min(at + openLength, text.length), text.length], to: text.length };
}

/** A regular expression, where a value may begin and a division cannot. */
function expression(text: string, at: number): Span | null {
  if (!/(?:^|[(,=:[!&|?{};+\n]|\breturn|\btypeof)\s*$/.test(text.slice(Math.max(0, at - 12), at))) return null;
  const found = /^\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//.exec(text.slice(at, at + 1000));
  return found === null ? null : { inner: [at + 1, at + found[0].length - 1], to: at + found[0].length };
}
