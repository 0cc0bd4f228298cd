// test-cases: finds the tests in a file, each with its name and lines, and matches them with the
// names that runners print. Pure.
//
// Invariants:
//   C1. There is no parser: brackets and indents are counted in text without comments and strings.
//       A test that is not found is not judged by its name.
//   C2. A name with computed parts matches every name it can become; one that is wholly computed
//       matches none by itself.

import { detectLanguage } from "../../protected/kinds.ts";
import type { Language } from "../../protected/rows/protection-row.ts";
import { maskText } from "../../protected/mask-text.ts";
import { countPatterns } from "../../protected/test-patterns.ts";
import { shellFile, shellCall } from "../broken-expectations/expectation-lines.ts";
import { findClosingBracket, splitAtCommas } from "./brackets.ts";
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
  const family = detectLanguage(path);
  if (family === null || text.length > textCharsMax) return [];
  const code = maskText(text, family);
  const lineAt = createLineCounter(text);
  const isAllSkipped = family === "py" && /^pytestmark\b.*(?:skip|xfail)/m.test(code);
  const tests = locateTests(code, text, family);

  return tests.slice(0, casesMax).map(({ name, title, from, to }) => {
    const testText = text.slice(from, to);
    const isSkipped = isAllSkipped || countPatterns(testText, family).skips > 0;
    return {
      path,
      name,
      title,
      from: lineAt(from),
      to: lineAt(Math.max(from, to - 1)),
      text: testText,
      isSkipped,
    };
  });
}

function locateTests(code: string, text: string, language: Language): readonly LocatedTest[] {
  if (language === "js") return findJsTests(code, text);
  return language === "py" ? findPythonTests(code) : findBracedTests(code, language);
}

/**
 * Each line that compares a program's output with something is a test; a string at its end is the
 * test's name.
 */
function findShellTests(path: string, text: string): readonly TestCase[] {
  const lines = text.slice(0, textCharsMax).split("\n");
  return lines.slice(0, casesMax).flatMap((line, index) => {
    const [, , expected, afterExpected = ""] = shellCall.exec(line) ?? [];
    if (expected === undefined) return [];
    const name = /["']([^"'$`]+)["']\s*$/.exec(afterExpected)?.[1];
    const title = name === undefined ? null : toTitlePattern(name);

    return [
      {
        path,
        name: name ?? line.trim(),
        title,
        from: index + 1,
        to: index + 1,
        text: line,
        isSkipped: false,
      },
    ];
  });
}

/** Each assertion is a test; one without a name is reported by its file and line. */
function findPerlTests(path: string, text: string): readonly TestCase[] {
  if (text.length > textCharsMax) return [];
  const lineAt = createLineCounter(text);
  return findPerlAssertions(text).map(({ from, to, title, isSkipped }) => {
    const [first, last] = [lineAt(from), lineAt(Math.max(from, to - 1))];
    const titleText =
      title === null ? undefined : /^(["'])(.+)\1$/s.exec(text.slice(title.from, title.to))?.[2];
    const name = titleText?.replaceAll(/[$@]\w+(?:(?:->)?[[{][^\]}]*[\]}])*/g, "%s"); // variables in it are known only at run time
    const lines = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    const linePattern = new RegExp(
      `(?:^|/)${escapePattern(path.split("/").at(-1) ?? path)} line (?:${lines.join("|")})$`,
    );

    const namePattern = name === undefined ? null : toTitlePattern(name);
    return {
      path,
      name: name ?? text.slice(from, to).split("\n", 1)[0] ?? "",
      title: title === null ? linePattern : namePattern,
      from: first,
      to: last,
      text: text.slice(from, to),
      isSkipped,
    };
  });
}

type LocatedTest = {
  readonly name: string;
  readonly title: RegExp | null;
  readonly from: number;
  readonly to: number;
};

const jsTestCall = /(?<![.\w$])(?:(?:Deno|QUnit|t)\.)?[xf]?(?:it|test|specify)(?:\.\w+)*\s*\(/g;

function findJsTests(code: string, text: string): readonly LocatedTest[] {
  const tests: LocatedTest[] = [];
  for (const { 0: open, index } of code.matchAll(jsTestCall)) {
    let from = index + open.length;
    let to = findClosingBracket(code, from - 1);
    const next = to === null ? null : /^\s*\(/.exec(code.slice(to, to + 20)); // test.each(rows)("name", …)
    if (to !== null && next !== null) {
      from = to + next[0].length;
      to = findClosingBracket(code, from - 1);
    }

    if (to === null) continue;
    const firstArgument = splitAtCommas(code, from, to - 1)[0];
    const title = readJsTitle(text.slice(from, firstArgument?.to));
    tests.push({
      name: title ?? "a test",
      title: title === null ? null : toTitlePattern(title),
      from: index,
      to,
    });
  }

  return tests;
}

/**
 * A test's title with `%s` for what is computed: `"adds " + name` is `adds %s`. Null if no part of
 * it is written out.
 */
function readJsTitle(argument: string): string | null {
  const parts = [
    ...argument.slice(0, 600).matchAll(/(["'`])((?:\\.|(?!\1)[^\\])*)\1|[^"'`+\s][^"'`+]*/g),
  ];
  const isWritten = parts.some(([, quote]) => quote !== undefined);
  return isWritten
    ? parts.map(([, quote, written = ""]) => (quote === undefined ? "%s" : written)).join("")
    : null;
}

const separators = " > |::| › ";
const escapePattern = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
/**
 * Matches what a title may become: `adds %i` matches "adds 3" at the end of a runner's name (C2).
 */
function toTitlePattern(title: string): RegExp | null {
  const plain = title.replaceAll(/\\(.)/g, "$1").trim();
  const parts = plain.split(/\$\{[^}]*\}|%[sdifjoOpc#%]|\$[\w.]+/).map(escapePattern);
  return parts.join("").trim() === ""
    ? null
    : new RegExp(`(?:^|${separators})${parts.join(".*")}$`, "s");
}

function findPythonTests(code: string): readonly LocatedTest[] {
  const tests: LocatedTest[] = [];
  for (const { 0: open, 1: indent = "", 2: name = "", index } of code.matchAll(
    /^([ \t]*)(?:async[ \t]+)?def[ \t]+(test\w*)[ \t]*\(/gm,
  )) {
    const header = findClosingBracket(code, index + open.length - 1);
    if (header === null) continue;
    tests.push({
      name,
      title: toNamePattern(name),
      from: findDecoratedStart(code, index, indent),
      to: findIndentedEnd(code, header, indent),
    });
  }

  return tests;
}

function findDecoratedStart(code: string, position: number, indent: string): number {
  let from = position;
  for (let start = position; start > 0;) {
    const above = code.lastIndexOf("\n", start - 2) + 1;
    const line = code.slice(above, start - 1);
    if (
      line.trim() === "" ||
      !(
        line.startsWith(`${indent}@`) ||
        /^\s*[)\]}]/.test(line) ||
        /^\s/.test(line.slice(indent.length))
      )
    ) {
      break;
    }

    start = above;
    if (line.startsWith(`${indent}@`)) from = above;
  }

  return from;
}

function findIndentedEnd(code: string, from: number, indent: string): number {
  let to = findLineEnd(code, from);
  while (to < code.length) {
    const end = findLineEnd(code, to + 1);
    const line = code.slice(to + 1, end);
    if (line.trim() !== "" && !(line.startsWith(indent) && /^\s/.test(line.slice(indent.length)))) {
      break;
    }

    to = end;
  }

  return to;
}

const bracedTestHeads: Readonly<Record<Exclude<Language, "js" | "py">, RegExp>> = {
  go: /\bfunc[ \t]+(?!TestMain\b)((?:Test|Fuzz|Example)\w*)[ \t]*\(/g,
  rust: /#\[\s*(?:\w+::)*(?:test|rstest)\b[^\]]{0,200}\]\s*(?:#\[[^\]]{0,200}\]\s*)*(?:pub\s+)?(?:async\s+)?fn\s+(\w+)/g,
  java: /@(?:Test|ParameterizedTest)\b[^{};]{0,300}?\b(\w+)\s*\(\s*[^){]{0,200}\)/g,
};

function findBracedTests(
  code: string,
  family: Exclude<Language, "js" | "py">,
): readonly LocatedTest[] {
  return [...code.matchAll(bracedTestHeads[family])].flatMap(({ 0: open, 1: name = "", index }) => {
    const brace = code.indexOf("{", index + open.length);
    const to = brace === -1 ? null : findClosingBracket(code, brace);
    return to === null ? [] : [{ name, title: toNamePattern(name), from: index, to }];
  });
}

const toNamePattern = (name: string): RegExp =>
  new RegExp(`(?:^|${separators}|[\\s.])${name}(?:$|[\\s([/]| - )`);

function findLineEnd(code: string, from: number): number {
  const index = code.indexOf("\n", from);
  return index === -1 ? code.length : index;
}

/** Returns a function that finds the line of a position, from 1, by binary search. */
export function createLineCounter(text: string): (position: number) => number {
  const starts = [0];
  for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) {
    starts.push(index + 1);
  }

  return (position) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= position) low = middle;
      else high = middle;
    }

    return low + 1;
  };
}

/**
 * Whether a runner's name can be of a test in this file: if it names a file or a module, that must
 * be this one.
 */
export function canNameBeIn(name: string, path: string): boolean {
  const base = path.split("/").at(-1) ?? path;
  if (/[\w./-]+\.(?:[cm]?[jt]sx?|py|rb|php)\b/.test(name)) return name.includes(base);
  const module = /^\w+ \(([\w.]+)\)/.exec(name)?.[1]; // unittest

  return module === undefined || `.${module}.`.includes(`.${base.replace(/\.py$/, "")}.`);
}

/** Whether a runner's name is that of this test. */
export const isNameOfTest = (name: string, { path, title }: TestCase): boolean =>
  title !== null && canNameBeIn(name, path) && title.test(name);

/** Whether a runner's name is that of a whole file, or of its module or package. */
export function isNameOfFile(name: string, path: string): boolean {
  if (name === path || name.endsWith(`/${path}`) || path.endsWith(`/${name}`)) return true;
  const module = /^([\w.]+) \(unittest\.loader\._FailedTest/.exec(name)?.[1];
  const modulePath = path.replace(/\.py$/, "").replaceAll("/", ".");
  if (module !== undefined) return modulePath === module || modulePath.endsWith(`.${module}`);
  if (!path.endsWith("_test.go") || /\s/.test(name)) return false;
  const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";

  return folder === "" || name === folder || name.endsWith(`/${folder}`);
}

/**
 * Names without those of groups whose tests are among them: `example.com/stats` beside
 * `example.com/stats TestOdd`.
 */
export const omitGroups = (names: readonly string[]): readonly string[] =>
  names.filter((name) => !names.some((other) => other.startsWith(`${name} `)));
