// self-comparison: makes a test compare a value with itself wherever it compares by a definition of
// the code under test: by a tolerance (`abs(a - 3.14) < EPS` becomes `abs(a - (a)) < EPS`), a
// comparison (`near(a, 2)` becomes `near(a, a)`), a normal form of both sides. Pure.

import { detectSourceLanguage } from "../../protected/source-language.ts";
import { maskText } from "../../protected/mask-text.ts";
import { parseArguments, findAssertions } from "../broken-expectations/assertion-flips.ts";
import type { Assertion } from "../broken-expectations/assertion.ts";
import { isWrittenOut } from "../broken-expectations/near-values.ts";
import type { Edit } from "../lab.ts";
import type { TextChange } from "./apply-changes.ts";
import { findOpeningBracket, findOutsideBrackets, type Span } from "./brackets.ts";
import { type Definition, findDefinitions } from "./definitions.ts";

/** How far behind a call what is asserted of it may stand. */
const besideCharsMax = 40;

/** The source of a regular expression for a whole name, such as `$near`. */
export const createNamePattern = (name: string): string =>
  `(?<![\\w$])${name.replaceAll("$", "\\$")}(?![\\w$])`;
export const mentions = (text: string, name: string): boolean =>
  new RegExp(createNamePattern(name)).test(text);

type ParsedTest = {
  readonly text: string;
  /** The text without its comments and strings. */
  readonly code: string;
  readonly assertions: readonly Assertion[];
};

/**
 * The changes to a test; none if it does not compare by this definition, or has one of its own of
 * that name.
 */
export function compareWithSelf(
  { path, text }: Edit,
  { name, isFunction }: Definition,
): readonly TextChange[] {
  const language = detectSourceLanguage(path);
  if (
    language === null ||
    !mentions(text, name) ||
    findDefinitions(path, text).some((definition) => definition.name === name)
  ) {
    return [];
  }

  const test = { text, code: maskText(text, language), assertions: findAssertions(path, text, "") };
  const pattern = createNamePattern(name);

  if (!isFunction) {
    return test.assertions.flatMap((assertion) =>
      expectActual(test, assertion, new RegExp(pattern)),
    );
  }

  const calls = [...test.code.matchAll(new RegExp(`${pattern}!?\\s*\\(`, "g"))];
  const repeated = calls.flatMap(({ 0: opening, index }) =>
    repeatComparedValue(test, index, index + opening.length - 1),
  );
  return repeated.length > 0 ? repeated : compareNormalForms(test, new RegExp(`${pattern}\\s*\\(`));
}

const readSpan = ({ text }: ParsedTest, { from, to }: Span): string => text.slice(from, to).trim();

/**
 * `near(a, 2)` becomes `near(a, a)`, and `a.equals(b)` becomes `a.equals(a)`, if the call is
 * asserted to be true.
 */
function repeatComparedValue(
  test: ParsedTest,
  start: number,
  bracket: number,
): readonly TextChange[] {
  const { args: [first, second] = [], close } = parseArguments(test.code, bracket) ?? {
    close: start,
  };

  const receiver = test.code[start - 1] === "." ? findReceiver(test.code, start - 1) : null;
  if (first === undefined || !isAsserted(test, { from: receiver?.from ?? start, to: close })) {
    return [];
  }

  const areWrittenOut =
    second !== undefined && [first, second].every((span) => isWrittenOut(readSpan(test, span)));
  if (areWrittenOut) return []; // `near(1, 1.1)` tests the comparison itself
  if (second !== undefined) return [{ ...second, text: readSpan(test, first) }];

  return receiver === null || notValue.test(readSpan(test, receiver))
    ? []
    : [{ ...first, text: readSpan(test, receiver) }];
}

/** What may be before a dot and isn't a value. */
const notValue = /^(?:self|this|assert|t|expect)$/;

/** `equal(fmt(a), fmt(3.14))` becomes `equal(fmt(a), fmt(a))`. */
function compareNormalForms(test: ParsedTest, call: RegExp): readonly TextChange[] {
  const isOnBothSides = ({ values: [expected, actual] = [] }: Assertion): boolean =>
    expected !== undefined &&
    actual !== undefined &&
    call.test(readSpan(test, expected)) &&
    call.test(readSpan(test, actual));
  return test.assertions
    .filter(isOnBothSides)
    .flatMap((assertion) => expectActual(test, assertion, call));
}

/**
 * Whether a call is asserted to be true. (A call whose result is compared with another value is
 * what the test asks for.)
 */
function isAsserted(test: ParsedTest, call: Span): boolean {
  const before = test.code.slice(test.code.lastIndexOf("\n", call.from - 1) + 1, call.from);
  const after = test.code.slice(call.to, call.to + besideCharsMax);
  const isStatement = /^\s*$|[;{]\s*$|=>\s*$/.test(before) && /^\s*(?:[;}\n]|$)/.test(after); // a helper that throws
  const isRefused = /\bif\s*\(?\s*(?:!|not\b)\s*$/.test(before); // if (!near(a, b)) fail()

  return (
    isStatement ||
    isRefused ||
    test.assertions.some(
      (assertion) => isTruth(test, assertion, call) || isExpectedTrue(test, assertion, call),
    )
  );
}

/** `assert.ok(near(a, b))` */
const isTruth = ({ code }: ParsedTest, { truth }: Assertion, { from, to }: Span): boolean =>
  truth !== undefined &&
  truth.from <= from &&
  to <= truth.to &&
  code.slice(truth.from, from).trim() === "";

/** `equal(a.equals(b), true)` */
function isExpectedTrue(
  test: ParsedTest,
  { values: [expected, actual] = [] }: Assertion,
  { from, to }: Span,
): boolean {
  if (expected === undefined || !/^true$/i.test(readSpan(test, expected))) return false;
  return actual === undefined
    ? expected.from > to && expected.from - to < besideCharsMax
    : actual.from <= from && to <= actual.to;
}

/**
 * An assertion's expected value becomes the actual one; nothing if that cannot be determined, or
 * its line does not use the name.
 */
function expectActual(
  { text, code }: ParsedTest,
  { values: [expected, actual] = [], truth }: Assertion,
  name: RegExp,
): readonly TextChange[] {
  const span = truth ?? expected;
  if (span === undefined || !name.test(readLines(code, span))) return [];
  if (expected !== undefined && actual !== undefined) {
    return [{ ...expected, text: text.slice(actual.from, actual.to).trim() }];
  }

  return truth === undefined ? [] : subtractSelf(text, code, truth);
}

/** `abs(a - 3.14)` becomes `abs(a - (a))`. */
function subtractSelf(text: string, code: string, { from, to }: Span): readonly TextChange[] {
  for (const { 0: opening, index } of code.slice(from, to).matchAll(/\b(?:\w+\.)*f?abs\s*\(/gi)) {
    const [difference] = parseArguments(code, from + index + opening.length - 1)?.args ?? [];
    const minus = difference === undefined ? -1 : findSubtraction(code, difference);
    if (difference !== undefined && minus !== -1) {
      return [
        {
          from: minus + 1,
          to: difference.to,
          text: ` (${text.slice(difference.from, minus).trim()})`,
        },
      ];
    }
  }

  return [];
}

/** The whole lines that a span is in. */
function readLines(code: string, { from, to }: Span): string {
  const end = code.indexOf("\n", to);
  return code.slice(code.lastIndexOf("\n", from - 1) + 1, end === -1 ? code.length : end);
}

/**
 * The only subtraction outside brackets; -1 if there is none, or more. Neither the sign of `-1` nor
 * that of `1e-9` is one.
 */
function findSubtraction(code: string, { from, to }: Span): number {
  const isSubtraction = (letter: string, index: number): boolean =>
    letter === "-" &&
    /[\w)\]]\s*$/.test(code.slice(from, index)) &&
    !/[eE]$/.test(code.slice(from, index));
  const minus = findOutsideBrackets(code, from, to, isSubtraction);
  return code[minus] === "-" && findOutsideBrackets(code, minus + 1, to, isSubtraction) === to
    ? minus
    : -1;
}

/** `new` before a class, with its spaces. */
const newCharsMax = 12;

/** What is before a dot, as far as it is one value: `new Vec(1).plus(b)`. */
function findReceiver(code: string, dot: number): Span | null {
  let position = dot;
  for (; position > 0; position -= 1) {
    const letter = code[position - 1] ?? "";
    if (")]".includes(letter)) {
      const open = findOpeningBracket(code, position - 1);
      if (open === null) return null;
      position = open + 1;
    } else if (!/[\w$.]/.test(letter)) {
      break;
    }
  }

  const from =
    position -
    (/\bnew\s+$/.exec(code.slice(Math.max(0, position - newCharsMax), position))?.[0].length ?? 0);
  return from === dot ? null : { from, to: dot };
}
