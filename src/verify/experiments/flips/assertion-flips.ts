// assertion-flips: turns assertions of a test file into wrong ones, even if their expected value is
// computed: it becomes a value made for this run, which no honest result equals, or the assertion
// is negated. Pure.
//
// Invariants:
//   X1. The same assertion function is kept if possible: it gets another expectation, and is not
//       replaced.
//   X2. As many lines as before, so that line numbers stay.
//   X3. Bounded in calls per file and characters per call.
//   X4. The expected value becomes another of the same kind and shape if possible: only that
//       reveals an object that claims to be equal to everything of its type. Otherwise it becomes a
//       value of another kind, or the assertion is negated.
//   X5. What the test asks for is never changed: another question may well have the same answer. So
//       the other side of a comparison is changed only if it is written out, and therefore the
//       expected one.

import { detectLanguage } from "../../protected/kinds.ts";
import { cFile, detectSourceLanguage } from "../../protected/source-language.ts";
import { maskText } from "../../protected/mask-text.ts";
import {
  type Assertion,
  type Call,
  type Change,
  assertionRules,
  assertionScore,
  otherKindPenalty,
  perlRule,
  type Span,
} from "./assertion-rules.ts";
import { findPerlAssertions, perlTestFile } from "../source/perl-tests.ts";
import { findClosingBracket, splitAtCommas } from "../source/brackets.ts";
import { createLineCounter, findTestCases } from "../source/test-cases.ts";
import { findFailingConditions } from "./failing-conditions.ts";
import type { Flip } from "./literal-flips.ts";
import {
  changeAtRunTime,
  createDraw,
  toFarValue,
  isWrittenOut,
  toNearValue,
} from "./near-values.ts";
import { toNearCondition } from "./near-conditions.ts";
import {
  findApprox,
  moveBeyondTolerance,
  moveBeyondToleranceAtRunTime,
  type Tolerance,
} from "./tolerances.ts";

/** Bounds of a file, of its calls, and of what a flip may replace (X3). */
const textCharsMax = 400_000;
const callsMax = 5_000;
const spanLinesMax = 40;
/** How far before a call it is looked whether the call is a statement or an assertion's. */
const beforeCharsMax = 60;

/**
 * The assertions of a file, each made wrong, in the order of its lines; if there are two ways, the
 * stronger first.
 */
export function createAssertionFlips(path: string, text: string, nonce: string): readonly Flip[] {
  const lineAt = createLineCounter(text);
  const assertions = [...findAssertions(path, text, nonce), ...findPlainComparisons(path, text)];
  const changes = assertions.flatMap((assertion) =>
    createAssertionChanges(assertion, path, text, nonce),
  );

  return changes
    .flatMap((change) => toFlip(path, text, change, lineAt) ?? [])
    .toSorted((left, right) => left.line - right.line);
}

/**
 * In a program that is a test as a whole, not a file of tests for a runner: its conditions that end
 * it as failed.
 */
function findPlainComparisons(path: string, text: string): readonly Assertion[] {
  const language = cFile.test(path) ? "java" : detectLanguage(path);
  if (language === null || text.length > textCharsMax || findTestCases(path, text).length > 0) {
    return [];
  }

  return findFailingConditions(maskText(text, language), text, language);
}

/** The expected values of a file's assertions, as source text. */
export const findExpectedValues = (path: string, text: string): readonly string[] =>
  findAssertions(path, text, "").flatMap(({ values: [value] = [] }) =>
    value === undefined ? [] : [text.slice(value.from, value.to)],
  );

type ComparedValues = { readonly actual: string; readonly expected: string | null };

/** The actual and the expected value (null if it only has to be true), as source text. */
export function findComparedValues(path: string, text: string): readonly ComparedValues[] {
  return findAssertions(path, text, "").flatMap(
    ({ values: [value, other] = [], truth, fallback }): readonly ComparedValues[] => {
      if (truth !== undefined) {
        return [{ actual: text.slice(truth.from, truth.to), expected: null }];
      }

      const before =
        value === undefined ? "" : text.slice(text.lastIndexOf("\n", value.from) + 1, value.from);
      if (value === undefined || fallback === undefined || /almost|close/i.test(before)) return [];
      const expectArgument = /\bexpect\(([^\n]+)\)\.(?:to\.)?(?:deep\.)?\w+\(\s*$/.exec(
        before,
      )?.[1];
      const actual = other === undefined ? expectArgument : text.slice(other.from, other.to);

      return actual === undefined ? [] : [{ actual, expected: text.slice(value.from, value.to) }];
    },
  );
}

/** `nonce`: the text that stands for a wrong value, if none of the same kind can be made. */
export function findAssertions(path: string, text: string, nonce: string): readonly Assertion[] {
  if (perlTestFile.test(path)) {
    return text.length > textCharsMax
      ? []
      : parsePerlCalls(text).flatMap((call) => perlRule(call, nonce) ?? []);
  }

  const family = detectSourceLanguage(path);
  if (family === null || text.length > textCharsMax) return [];
  const code = maskText(text, family);
  const calls = parseCalls(code, text).flatMap((call) => assertionRules[family](call, nonce) ?? []);
  if (family === "py") return [...calls, ...findPythonAsserts(code, text, nonce)];

  return family === "go" ? [...calls, ...findGoComparisons(code)] : calls;
}

export type ScoredChange = Change & { readonly score: number };

/** The language in which a changed value can be computed at run time; null if it can't. */
function findRunTimeLanguage(path: string): "js" | "ts" | "py" | null {
  if (/\.[cm]?tsx?$/.test(path)) return "ts";
  const language = detectLanguage(path);
  return language === "js" || language === "py" ? language : null;
}

/** At most one change to a value of the same kind, and one to another kind (`fallback`). */
function createAssertionChanges(
  assertion: Assertion,
  path: string,
  text: string,
  nonce: string,
): readonly ScoredChange[] {
  const {
    values = [],
    literal,
    searched,
    truth,
    fallback,
    score = assertionScore,
    isExact = false,
    tolerance,
  } = assertion;

  const draw = createDraw(
    `${nonce} ${path} ${values[0]?.from ?? truth?.from ?? searched?.from ?? literal?.from}`,
  );

  const language = findRunTimeLanguage(path);
  const textOf = ({ from, to }: Span): string => text.slice(from, to);
  const lineOf = ({ from, to }: Span): string =>
    text.slice(text.lastIndexOf("\n", from - 1) + 1, `${text}\n`.indexOf("\n", to));
  const changes: ScoredChange[] = [];
  const add = (span: Span, changed: string | null): void => {
    if (changed !== null) changes.push({ ...span, text: changed, score });
  };

  const addBeyond = (span: Span, amount: Tolerance): void => {
    const atRunTime =
      language === null
        ? null
        : moveBeyondToleranceAtRunTime(textOf(span), language, amount, nonce);
    add(span, moveBeyondTolerance(textOf(span), amount) ?? atRunTime);
  };

  const compared = values[0] ?? literal;
  if (compared !== undefined && tolerance) addBeyond(compared, tolerance);
  const approx = compared === undefined ? null : findApprox(textOf(compared));
  if (compared !== undefined && approx !== null) {
    addBeyond(
      { from: compared.from + approx.from, to: compared.from + approx.to },
      approx.tolerance,
    );
  }

  const expectedSpans = values.filter(
    (span, index) => span !== undefined && (index === 0 || isWrittenOut(textOf(span))),
  ); // X5
  for (const span of expectedSpans) {
    if (span !== undefined) add(span, toNearValue(textOf(span), draw, isExact, lineOf(span)));
  }

  if (literal !== undefined) add(literal, toNearValue(textOf(literal), draw));
  if (searched !== undefined) add(searched, toFarValue(textOf(searched), draw));
  if (truth !== undefined) add(truth, toNearCondition(textOf(truth), draw));
  const [value] = expectedSpans;
  if (changes.length === 0 && value !== undefined && language !== null) {
    add(value, changeAtRunTime(textOf(value), language, nonce, isExact));
  }

  const fallbackScore = changes.length === 0 ? score : score - otherKindPenalty;
  return [...changes.slice(0, 1), ...(fallback ? [{ ...fallback, score: fallbackScore }] : [])];
}

/** A change as a flip of its whole lines; null if it adds lines, or spans too many. */
export function toFlip(
  path: string,
  text: string,
  change: ScoredChange,
  lineAt: (position: number) => number,
): Flip | null {
  const { from, to, text: changed, score } = change;
  const start = text.lastIndexOf("\n", from - 1) + 1;
  const end = text.indexOf("\n", to) === -1 ? text.length : text.indexOf("\n", to);
  const was = text.slice(start, end);
  const lostLines = text.slice(from, to).split("\n").length - changed.split("\n").length;
  if (lostLines < 0 || was.split("\n").length > spanLinesMax) return null;
  const broken = text.slice(start, from) + changed + "\n".repeat(lostLines) + text.slice(to, end); // X2

  return { path, line: lineAt(start), was, broken, score };
}

function parseCalls(code: string, text: string): readonly Call[] {
  const calls: Call[] = [];
  for (const { 0: open, 1: name = "", index } of code.matchAll(/([\w$]+!?)\s*\(/g)) {
    if (calls.length >= callsMax) break; // X3
    const before = code.slice(Math.max(0, index - beforeCharsMax), index);
    if (/\b(?:function|def|fn|func|new)\s+$/.test(before)) continue; // a definition, or a constructor's call
    const inner = parseArguments(code, index + open.length - 1);
    if (inner === null) continue;
    const { args, close } = inner;
    const isChained = /^\s*\./.test(code.slice(close, close + 40));
    const isStatement =
      !isChained &&
      /(?:^|[\n;{])[ \t]*(?:await[ \t]+)?(?:[\w$]+\.)*$|(?:=>|\):)\s*(?:[\w$]+\.)*$/.test(before);

    calls.push({
      name,
      position: index,
      before,
      args,
      textOf: ({ from, to }) => text.slice(from, to).trim(),
      isStatement,
    });
  }

  return calls;
}

const parsePerlCalls = (text: string): readonly Call[] =>
  findPerlAssertions(text).map(({ name, from, args, title }) => ({
    name,
    position: from,
    before: "",
    args: args.filter((arg) => arg !== title),
    textOf: (span) => text.slice(span.from, span.to).trim(),
    isStatement: true,
  }));

const argsCharsMax = 4_000;

/** The arguments of a call; null if it does not close. */
export function parseArguments(
  code: string,
  open: number,
): { readonly args: readonly Span[]; readonly close: number } | null {
  const close = findClosingBracket(code.slice(0, open + argsCharsMax), open);
  if (close === null) return null;
  const args = splitAtCommas(code, open + 1, close - 1).map((arg) => trimSpan(code, arg));

  return {
    args: args.filter(({ from, to }, index) => index < args.length - 1 || from < to),
    close,
  }; // the last comma may be trailing
}

function trimSpan(code: string, { from, to }: Span): Span {
  const inner = code.slice(from, to);
  return {
    from: from + inner.length - inner.trimStart().length,
    to: to - (inner.length - inner.trimEnd().length),
  };
}

/** `assert EXPRESSION, message`: what follows its only comparison, else all of it. */
function findPythonAsserts(code: string, text: string, nonce: string): readonly Assertion[] {
  return [...code.matchAll(/(?<=^[ \t]*(?:def\b[^\n]*:[ \t]*)?)assert\b(?!\s*=)/gm)]
    .slice(0, callsMax)
    .flatMap(({ 0: open, index }): readonly Assertion[] => {
      const from = index + open.length;
      const { end, comma, equals, hasOtherOperators } = parseStatement(code, from);
      const condition = trimSpan(code, { from, to: comma ?? end });
      if (condition.to <= condition.from) return [];
      const conditionText = text.slice(condition.from, condition.to);
      const [onlyEquals] = equals;
      if (equals.length !== 1 || onlyEquals === undefined || hasOtherOperators) {
        return [{ truth: condition, fallback: { ...condition, text: `not (${conditionText})` } }];
      }

      const actual = trimSpan(code, { from: condition.from, to: onlyEquals });
      const expected = trimSpan(code, { from: onlyEquals + 2, to: condition.to });
      const isExact = !/\bapprox\b|\bclose/.test(conditionText);

      return [
        { values: [expected, actual], fallback: { ...expected, text: `"${nonce}"` }, isExact },
      ];
    });
}

/**
 * The end of a Python statement, the comma before an assertion's message, and the positions of `==`
 * outside brackets.
 */
function parseStatement(code: string, from: number) {
  const equals: number[] = [];
  let [depth, position] = [0, from];
  let comma: number | null = null;

  for (; position < code.length && position < from + argsCharsMax; position += 1) {
    const letter = code[position] ?? "";
    if ("([{".includes(letter)) depth += 1;
    if (")]}".includes(letter)) depth -= 1;
    if (depth < 0 || (letter === "\n" && depth === 0 && code[position - 1] !== "\\")) break;
    if (depth !== 0) continue;
    if (letter === "," && comma === null) comma = position;
    if (letter === "=" && code[position + 1] === "=" && comma === null) equals.push(position++);
  }

  const outsideBrackets = code
    .slice(from, comma ?? position)
    .replaceAll(/\([^()]*\)|\[[^[\]]*\]|\{[^{}]*\}/g, "");
  const hasOtherOperators = /\b(?:and|or|not|if|in|is|lambda)\b|!=|[<>]/.test(outsideBrackets);
  return { end: position, comma, equals, hasOtherOperators };
}

/**
 * `if got != want {` is negated, as is `if !ok {`. Comparisons with nil come last: they are mostly
 * about errors.
 */
function findGoComparisons(code: string): readonly Assertion[] {
  return [...code.matchAll(/^[ \t]*if\b([^\n{]*)\{/gm)]
    .slice(0, callsMax)
    .flatMap(({ 0: open, index }): readonly Assertion[] => {
      if (/&&|\|\|/.test(open)) return [];
      const operators = [...open.matchAll(/[!=]=(?!=)/g)];
      const [operator] = operators;
      const score = /\bnil\b/.test(open) ? 1 : assertionScore;

      if (operators.length === 1 && operator !== undefined) {
        const from = index + operator.index;
        const value = trimSpan(code, { from: from + 2, to: index + open.length - 1 });
        const negation = { from, to: from + 2, text: operator[0] === "!=" ? "==" : "!=" };

        return [
          {
            ...(operator[0] === "!=" && score > 1 ? { values: [value], isExact: true } : {}),
            fallback: negation,
            score,
          },
        ];
      }

      const not = /(?:\bif|;)\s*(!)\s*[\w(]/.exec(open);
      if (operators.length > 0 || not === null) return [];
      const position = index + not.index + not[0].indexOf("!");

      return [{ fallback: { from: position, to: position + 1, text: "" }, score }];
    });
}
