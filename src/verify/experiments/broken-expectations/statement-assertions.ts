// statement-assertions: finds the assertions of a test that are no calls: Python's `assert a == b`,
// Java's `assert a == b : "message";`, Go's `if got != want {`, Rust's `#[should_panic]`. Pure.
// Invariants X1 and on: verify/experiments/broken-expectations/assertion-flips.ts.

import { findOutsideBrackets, trimSpan } from "../source-text/brackets.ts";
import { type Assertion, assertionScore, statementScore } from "./assertion.ts";

/** Bounds of a file and of a statement (X3). */
const statementsMax = 5_000;
const statementCharsMax = 4_000;

/** `assert EXPRESSION, message`: what follows its only comparison, else all of it. */
export function findPythonAsserts(code: string, text: string, nonce: string): readonly Assertion[] {
  // Not `assert = …`; also behind `def test_one():` in the same line.
  const keywords = code.matchAll(/(?<=^[ \t]*(?:def\b[^\n]*:[ \t]*)?)assert\b(?!\s*=)/gm);
  return [...keywords]
    .slice(0, statementsMax)
    .flatMap(({ 0: keyword, index }) =>
      readPythonAssert(code, text, index + keyword.length, nonce),
    );
}

/** `from`: where its expression begins. */
function readPythonAssert(
  code: string,
  text: string,
  from: number,
  nonce: string,
): readonly Assertion[] {
  const { to, equals, hasOtherOperators } = readCondition(code, from);
  const condition = trimSpan(code, { from, to });
  if (condition.to <= condition.from) return [];
  const conditionText = text.slice(condition.from, condition.to);

  const [onlyEquals] = equals;
  if (equals.length !== 1 || onlyEquals === undefined || hasOtherOperators) {
    return [{ truth: condition, fallback: { ...condition, text: `not (${conditionText})` } }];
  }

  const actual = trimSpan(code, { from: condition.from, to: onlyEquals });
  const expected = trimSpan(code, { from: onlyEquals + "==".length, to: condition.to });
  const isExact = !/\bapprox\b|\bclose/.test(conditionText);
  return [{ values: [expected, actual], fallback: { ...expected, text: `"${nonce}"` }, isExact }];
}

/**
 * The end of an assertion's condition: of its statement, or the comma before its message. `equals`:
 * the positions of `==` outside brackets.
 */
function readCondition(code: string, from: number) {
  const limit = Math.min(code.length, from + statementCharsMax);
  const end = findOutsideBrackets(
    code,
    from,
    limit,
    (letter, index) => letter === "\n" && code[index - 1] !== "\\",
  );
  const to = findOutsideBrackets(code, from, end, (letter) => letter === ",");

  const outsideBrackets = code.slice(from, to).replaceAll(/\([^()]*\)|\[[^[\]]*\]|\{[^{}]*\}/g, "");
  const hasOtherOperators = /\b(?:and|or|not|if|in|is|lambda)\b|!=|[<>]/.test(outsideBrackets);
  return { to, equals: findEquals(code, from, to), hasOtherOperators };
}

function findEquals(code: string, from: number, to: number): readonly number[] {
  const isEquals = (letter: string, index: number): boolean =>
    letter === "=" && code[index + 1] === "=";
  const equals: number[] = [];
  let position = findOutsideBrackets(code, from, to, isEquals);

  while (position < to) {
    equals.push(position);
    position = findOutsideBrackets(code, position + "==".length, to, isEquals);
  }

  return equals;
}

/** `assert CONDITION : message;`: the value that it compares with, else the condition is negated. */
export function findJavaAsserts(code: string, text: string): readonly Assertion[] {
  return [...code.matchAll(/(?<=(?:^|[;{}])\s*)assert\b/g)]
    .slice(0, statementsMax)
    .flatMap(({ 0: keyword, index }) => readJavaAssert(code, text, index + keyword.length) ?? []);
}

function readJavaAssert(code: string, text: string, from: number): Assertion | null {
  const limit = Math.min(code.length, from + statementCharsMax);
  const end = findOutsideBrackets(code, from, limit, (letter) => letter === ";");
  if (code.slice(from, end).includes("?")) return null; // whose `:` is no message
  const to = findOutsideBrackets(code, from, end, (letter) => letter === ":");
  const condition = trimSpan(code, { from, to });
  if (condition.to <= condition.from) return null;
  const negation = { ...condition, text: `!(${text.slice(condition.from, condition.to)})` };

  const [equals, ...others] = findEquals(code, from, to);
  const hasOthers = others.length > 0 || /&&|\|\||!=|[<>]/.test(code.slice(from, to));
  if (hasOthers) return { truth: condition, fallback: negation };
  if (equals !== undefined) {
    const actual = trimSpan(code, { from: condition.from, to: equals });
    const expected = trimSpan(code, { from: equals + "==".length, to: condition.to });
    return { values: [expected, actual], fallback: negation, isExact: true };
  }

  const call = /\.equals\s*\(/.exec(code.slice(condition.from, condition.to));
  if (call === null) return { truth: condition, fallback: negation };
  const actual = { from: condition.from, to: condition.from + call.index };
  const expected = { from: actual.to + call[0].length, to: condition.to - 1 };
  return { values: [expected, actual], fallback: negation, isExact: true };
}

/**
 * `if got != want {` is negated, as is `if !ok {`. Comparisons with nil come last: they are mostly
 * about errors.
 */
export function findGoComparisons(code: string): readonly Assertion[] {
  return [...code.matchAll(/^[ \t]*if\b([^\n{]*)\{/gm)]
    .slice(0, statementsMax)
    .flatMap(({ 0: line, index }) => readGoComparison(code, line, index) ?? []);
}

/** `line`: from its beginning to the brace of the branch. */
function readGoComparison(code: string, line: string, index: number): Assertion | null {
  if (/&&|\|\|/.test(line)) return null;
  const score = /\bnil\b/.test(line) ? 1 : assertionScore;
  const operators = [...line.matchAll(/[!=]=(?!=)/g)];
  const [operator] = operators;
  if (operators.length > 1) return null;

  if (operator === undefined) {
    const not = /(?:\bif|;)\s*(!)\s*[\w(]/.exec(line);
    if (not === null) return null;
    const from = index + not.index + not[0].indexOf("!");
    return { fallback: { from, to: from + 1, text: "" }, score };
  }

  const from = index + operator.index;
  const to = from + operator[0].length;
  if (operator[0] === "==") return { fallback: { from, to, text: "!=" }, score };

  const fallback = { from, to, text: "==" };
  if (score < assertionScore) return { fallback, score };
  const expected = trimSpan(code, { from: to, to: index + line.length - 1 });
  return { values: [expected], isExact: true, fallback, score };
}

/**
 * A test that must panic has to panic with another text. What its body asserts comes first: a test
 * that panics by an assertion of its own expects nothing.
 */
export const findRustPanics = (code: string, text: string, nonce: string): readonly Assertion[] =>
  [...code.matchAll(/#\[\s*should_panic\b[^\]\n]*\]/g)]
    .slice(0, statementsMax)
    .map(({ 0: attribute, index }) => {
      const to = index + attribute.length;
      const quote = text.slice(index, to).indexOf('"');
      const searched =
        quote === -1 ? undefined : { from: index + quote, to: text.lastIndexOf('"', to) + 1 };

      return {
        searched,
        fallback: { from: index, to, text: `#[should_panic(expected = "${nonce}")]` },
        score: statementScore,
      };
    });
