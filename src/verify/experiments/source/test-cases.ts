// test-cases: finds the tests in a file, each with its name and lines, and matches them with the names that runners print. Pure.
//
// Invariants:
//   C1. No parser: brackets and indents are counted in text without comments and strings. A test that is not found is not judged by its
//       name.
//   C2. A name with computed parts matches every name it can become; one that is wholly computed matches none by itself.

import { type Language, languageOf } from "../../protected/kinds.ts";
import { maskText } from "../../protected/masked.ts";
import { countPatterns } from "../../protected/test-patterns.ts";
import { shellFile, shellCall } from "../flips/literal-flips.ts";
import { findPerlAssertions, perlTestFile } from "./perl-tests.ts";

export type TestCase = {
  readonly path: string;
  /** As it is shown to a person. */
  readonly name: string;
  /** What a runner's name for it ends with; null if it is known only at run time. */
  readonly title: RegExp | null;
  /** Lines, from 1, with its decorators. */
  readonly from: number;
  readonly to: number;
  readonly text: string;
  /** It is marked as skipped, or as allowed to fail. */
  readonly isSkipped: boolean;
};

const textCharsMax = 400_000;
const casesMax = 2_000;

export function findTestCases(path: string, text: string): readonly TestCase[] {
  if (shellFile.test(path)) return findShellTests(path, text);
  if (perlTestFile.test(path)) return findPerlTests(path, text);
  const family = languageOf(path);
  if (family === null || text.length > textCharsMax) return [];
  const code = maskText(text, family);
  const found = family === "js" ? findJsTests(code, text) : family === "py" ? findPythonTests(code) : findBracedTests(code, family);
  const lineAt = lineCounter(text);
  const isAllSkipped = family === "py" && /^pytestmark\b.*(?:skip|xfail)/m.test(code);
  return found.slice(0, casesMax).map(({ name, title, from, to }) => {
    const own = text.slice(from, to);
    const isSkipped = isAllSkipped || countPatterns(own, family).skips > 0;
    return { path, name, title, from: lineAt(from), to: lineAt(Math.max(from, to - 1)), text: own, isSkipped };
  });
}

/** Each line that compares a program's output with something. */
function findShellTests(path: string, text: string): readonly TestCase[] {
  const lines = text.slice(0, textCharsMax).split("\n");
  return lines.slice(0, casesMax).flatMap((line, index) => {
    const [, , expected, rest = ""] = shellCall.exec(line) ?? [];
    if (expected === undefined) return [];
    const name = /["']([^"'$`]+)["']\s*$/.exec(rest)?.[1];
    return [
      {
        path,
        name: name ?? line.trim(),
        title: name === undefined ? null : titlePattern(name),
        from: index + 1,
        to: index + 1,
        text: line,
        isSkipped: false,
      },
    ];
  });
}

/** Each assertion: what has no name is reported by its place. */
function findPerlTests(path: string, text: string): readonly TestCase[] {
  if (text.length > textCharsMax) return [];
  const lineAt = lineCounter(text);
  return findPerlAssertions(text).map(({ from, to, title, isSkipped }) => {
    const [first, last] = [lineAt(from), lineAt(Math.max(from, to - 1))];
    const written = title === null ? undefined : /^(["'])(.+)\1$/s.exec(text.slice(title.from, title.to))?.[2];
    const name = written?.replaceAll(/[$@]\w+(?:(?:->)?[[{][^\]}]*[\]}])*/g, "%s");
    const lines = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    const place = new RegExp(`(?:^|/)${escapePattern(path.split("/").at(-1) ?? path)} line (?:${lines.join("|")})$`);
    return {
      path,
      name: name ?? text.slice(from, to).split("\n", 1)[0] ?? "",
      title: title === null ? place : name === undefined ? null : titlePattern(name),
      from: first,
      to: last,
      text: text.slice(from, to),
      isSkipped,
    };
  });
}

type LocatedTest = { readonly name: string; readonly title: RegExp | null; readonly from: number; readonly to: number };

const jsTestCall = /(?<![.\w$])(?:(?:Deno|QUnit|t)\.)?[xf]?(?:it|test|specify)(?:\.\w+)*\s*\(/g;

function findJsTests(code: string, text: string): readonly LocatedTest[] {
  const found: LocatedTest[] = [];
  for (const { 0: open, index } of code.matchAll(jsTestCall)) {
    let from = index + open.length;
    let to = closingBracket(code, from - 1);
    const next = to === null ? null : /^\s*\(/.exec(code.slice(to, to + 20)); // test.each(rows)("name", …)
    if (to !== null && next !== null) {
      from = to + next[0].length;
      to = closingBracket(code, from - 1);
    }
    if (to === null) continue;
    const title = readJsTitle(text.slice(from, firstArgumentEnd(code, from, to)));
    found.push({ name: title ?? "a test", title: title === null ? null : titlePattern(title), from: index, to });
  }
  return found;
}

/** Where the first argument of a call ends: before a comma, or the bracket that closes the call. */
function firstArgumentEnd(code: string, from: number, to: number): number {
  let depth = 0;
  for (let index = from; index < to - 1; index += 1) {
    const letter = code[index] ?? "";
    if ("([{".includes(letter)) depth += 1;
    else if (")]}".includes(letter)) depth -= 1;
    else if (letter === "," && depth === 0) return index;
  }
  return to - 1;
}

/** A test's title with `%s` for what is computed: `"adds " + name` is `adds %s`. Null if no part of it is written out. */
function readJsTitle(argument: string): string | null {
  const parts = [...argument.slice(0, 600).matchAll(/(["'`])((?:\\.|(?!\1)[^\\])*)\1|[^"'`+\s][^"'`+]*/g)];
  const isWritten = parts.some(([, quote]) => quote !== undefined);
  return isWritten ? parts.map(([, quote, written = ""]) => (quote === undefined ? "%s" : written)).join("") : null;
}

const separators = " > |::| › ";
const escapePattern = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
/** C2 */
function titlePattern(title: string): RegExp | null {
  const plain = title.replaceAll(/\\(.)/g, "$1").trim();
  const parts = plain.split(/\$\{[^}]*\}|%[sdifjoOpc#%]|\$[\w.]+/).map(escapePattern);
  return parts.join("").trim() === "" ? null : new RegExp(`(?:^|${separators})${parts.join(".*")}$`, "s");
}

function findPythonTests(code: string): readonly LocatedTest[] {
  const found: LocatedTest[] = [];
  for (const { 0: open, 1: indent = "", 2: name = "", index } of code.matchAll(/^([ \t]*)(?:async[ \t]+)?def[ \t]+(test\w*)[ \t]*\(/gm)) {
    const header = closingBracket(code, index + open.length - 1);
    if (header === null) continue;
    found.push({
      name,
      title: namePattern(name),
      from: findDecoratedStart(code, index, indent),
      to: findIndentedEnd(code, header, indent),
    });
  }
  return found;
}

function findDecoratedStart(code: string, position: number, indent: string): number {
  let from = position;
  for (let start = position; start > 0;) {
    const above = code.lastIndexOf("\n", start - 2) + 1;
    const line = code.slice(above, start - 1);
    if (line.trim() === "" || !(line.startsWith(`${indent}@`) || /^\s*[)\]}]/.test(line) || /^\s/.test(line.slice(indent.length)))) break;
    start = above;
    if (line.startsWith(`${indent}@`)) from = above;
  }
  return from;
}

function findIndentedEnd(code: string, from: number, indent: string): number {
  let to = lineEnd(code, from);
  while (to < code.length) {
    const end = lineEnd(code, to + 1);
    const line = code.slice(to + 1, end);
    if (line.trim() !== "" && !(line.startsWith(indent) && /^\s/.test(line.slice(indent.length)))) break;
    to = end;
  }
  return to;
}

const bracedTestHeads: Readonly<Record<Exclude<Language, "js" | "py">, RegExp>> = {
  go: /\bfunc[ \t]+((?:Test|Fuzz|Example)\w*)[ \t]*\(/g,
  rust: /#\[\s*(?:\w+::)*(?:test|rstest)\b[^\]]{0,200}\]\s*(?:#\[[^\]]{0,200}\]\s*)*(?:pub\s+)?(?:async\s+)?fn\s+(\w+)/g,
  java: /@(?:Test|ParameterizedTest)\b[^{};]{0,300}?\b(\w+)\s*\(\s*[^){]{0,200}\)/g,
};

function findBracedTests(code: string, family: Exclude<Language, "js" | "py">): readonly LocatedTest[] {
  return [...code.matchAll(bracedTestHeads[family])].flatMap(({ 0: open, 1: name = "", index }) => {
    const brace = code.indexOf("{", index + open.length);
    const to = brace === -1 ? null : closingBracket(code, brace);
    return to === null ? [] : [{ name, title: namePattern(name), from: index, to }];
  });
}

const namePattern = (name: string): RegExp => new RegExp(`(?:^|${separators}|[\\s.])${name}(?:$|[\\s([/]| - )`);

/** The position after the bracket that closes the one at a position. */
export function closingBracket(code: string, open: number): number | null {
  let depth = 0;
  for (let index = open; index < code.length; index += 1) {
    const letter = code[index] ?? "";
    if ("([{".includes(letter)) depth += 1;
    if (")]}".includes(letter)) depth -= 1;
    if (depth === 0) return index + 1;
  }
  return null;
}

function lineEnd(code: string, from: number): number {
  const index = code.indexOf("\n", from);
  return index === -1 ? code.length : index;
}

/** The line of a position, from 1. */
export function lineCounter(text: string): (position: number) => number {
  const starts = [0];
  for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) starts.push(index + 1);
  return (place) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= place) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}

/** Whether a runner's name can be of a file at all: it may name a file or its module. */
export function canBeIn(name: string, path: string): boolean {
  const base = path.split("/").at(-1) ?? path;
  if (/[\w./-]+\.(?:[cm]?[jt]sx?|py|rb|php)\b/.test(name)) return name.includes(base);
  const module = /^\w+ \(([\w.]+)\)/.exec(name)?.[1]; // unittest
  return module === undefined || `.${module}.`.includes(`.${base.replace(/\.py$/, "")}.`);
}

/** Whether a runner's name is that of this test. */
export const isNameOfTest = (name: string, { path, title }: TestCase): boolean => title !== null && canBeIn(name, path) && title.test(name);

/** Whether a runner's name is that of a whole file, or of its module or package. */
export function isNameOfFile(name: string, path: string): boolean {
  if (name === path || name.endsWith(`/${path}`) || path.endsWith(`/${name}`)) return true;
  const module = /^([\w.]+) \(unittest\.loader\._FailedTest/.exec(name)?.[1];
  const own = path.replace(/\.py$/, "").replaceAll("/", ".");
  if (module !== undefined) return own === module || own.endsWith(`.${module}`);
  const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
  return path.endsWith("_test.go") && !/\s/.test(name) && (folder === "" ? true : name === folder || name.endsWith(`/${folder}`));
}
