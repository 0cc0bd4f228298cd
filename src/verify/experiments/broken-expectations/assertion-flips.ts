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
import type { Assertion, Call } from "./assertion.ts";
import { createAssertionChanges, type ScoredChange } from "./assertion-changes.ts";
import { assertionRules, perlRule } from "./assertion-rules.ts";
import { findPerlAssertions, perlTestFile } from "../source-text/perl-tests.ts";
import { findClosingBracket, type Span, splitAtCommas, trimSpan } from "../source-text/brackets.ts";
import { createLineCounter, findTestCases } from "../source-text/test-cases.ts";
import { findFailingConditions } from "./failing-conditions.ts";
import type { Flip } from "./flip.ts";
import {
  findGoComparisons,
  findJavaAsserts,
  findPythonAsserts,
  findRustPanics,
} from "./statement-assertions.ts";

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
  const changes = assertions
    .filter((assertion) => !onlyFails(assertion, text))
    .flatMap((assertion) => createAssertionChanges(assertion, path, text, nonce));

  return changes
    .flatMap((change) => toFlip(path, text, change, lineAt) ?? [])
    .toSorted((left, right) => left.line - right.line);
}

/** What is never to be reached: `assert false : "no exception";`. */
const onlyFails = ({ truth }: Assertion, text: string): boolean =>
  truth !== undefined && /^\(?false\)?$/i.test(text.slice(truth.from, truth.to).trim());

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
export const findComparedValues = (path: string, text: string): readonly ComparedValues[] =>
  findAssertions(path, text, "").flatMap((assertion) => readComparedValues(assertion, text) ?? []);

function readComparedValues(
  { values: [value, other] = [], truth, fallback }: Assertion,
  text: string,
): ComparedValues | null {
  const textOf = ({ from, to }: Span): string => text.slice(from, to);
  if (truth !== undefined) return { actual: textOf(truth), expected: null };
  if (value === undefined || fallback === undefined) return null;

  const before = text.slice(text.lastIndexOf("\n", value.from) + 1, value.from);
  if (/almost|close/i.test(before)) return null;
  const actual = other === undefined ? argumentOfExpect.exec(before)?.[1] : textOf(other);
  return actual === undefined ? null : { actual, expected: textOf(value) };
}

/** Before an expected value: `expect(size(a)).to.equal(`, with the answer in the first brackets. */
const argumentOfExpect = /\bexpect\(([^\n]+)\)\.(?:to\.)?(?:deep\.)?\w+\(\s*$/;

/** `nonce`: the text that stands for a wrong value, if none of the same kind can be made. */
export function findAssertions(path: string, text: string, nonce: string): readonly Assertion[] {
  if (text.length > textCharsMax) return [];
  if (perlTestFile.test(path)) {
    return parsePerlCalls(text).flatMap((call) => perlRule(call, nonce) ?? []);
  }

  const family = detectSourceLanguage(path);
  if (family === null) return [];
  const code = maskText(text, family);
  const calls = parseCalls(code, text).flatMap((call) => assertionRules[family](call, nonce) ?? []);
  if (family === "py") return [...calls, ...findPythonAsserts(code, text, nonce)];

  if (family === "java") return [...calls, ...findJavaAsserts(code, text)];

  if (family === "rust") return [...calls, ...findRustPanics(code, text, nonce)];

  return family === "go" ? [...calls, ...findGoComparisons(code)] : calls;
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

    calls.push({
      name,
      position: index,
      before,
      args,
      textOf: ({ from, to }) => text.slice(from, to).trim(),
      isStatement: !isChained && (lineStart.test(before) || branchStart.test(before)),
    });
  }

  return calls;
}

/** Before a call that is a whole statement: `{ await t.` */
const lineStart = /(?:^|[\n;{])[ \t]*(?:await[ \t]+)?(?:[\w$]+\.)*$/;
/** The same behind an arrow or Python's colon: `() => t.`, `def test_one():` */
const branchStart = /(?:=>|\):)\s*(?:[\w$]+\.)*$/;

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
