// assertion-rules: for each language, which calls assert something, what they expect, and how they
// are negated if the expected value cannot be changed. Pure; there is no parser: a call is
// recognised by its name and what precedes it.

import type { SourceLanguage } from "../../protected/source-language.ts";
import { type Tolerance, parseTolerance } from "./tolerances.ts";

export type Span = { readonly from: number; readonly to: number };
export type Change = Span & { readonly text: string };
export type Call = {
  readonly name: string;
  readonly position: number;
  /** The code before it, as far as it may matter. */
  readonly before: string;
  readonly args: readonly Span[];
  /** The text of a span, as it is written. */
  readonly textOf: (span: Span) => string;
  readonly isStatement: boolean;
};
/**
 * An assertion. Its expected value is changed into another of the same kind; `fallback` makes it
 * wrong in another way.
 */
export type Assertion = {
  /** What it compares, the expected value first. */
  readonly values?: readonly (Span | undefined)[];
  /** A value it compares in its own way: changed only if it is a literal. */
  readonly literal?: Span | undefined;
  /** A value it looks for in something larger. */
  readonly searched?: Span | undefined;
  /** An expression that must be true. */
  readonly truth?: Span;
  readonly fallback?: Change | null;
  readonly score?: number;
  /** It compares exactly: no near value may pass. */
  readonly isExact?: boolean;
  /** Its tolerance, if known. */
  readonly tolerance?: Tolerance | null;
};
type Rule = (call: Call, nonce: string) => Assertion | readonly Assertion[] | null;

/** More than a literal near an assertion has (literal-flips.ts). */
export const assertionScore = 4;
/** For a call that only may be an assertion. */
const statementScore = 3;
/** A value of another kind is weaker evidence than one of the same kind. */
export const otherKindPenalty = 0.2;

const replaced = (span: Span | undefined, text: string): Change | null =>
  span === undefined ? null : { ...span, text };
const renamed = ({ name, position }: Call, to: string | undefined): Change | null =>
  to === undefined ? null : { from: position, to: position + name.length, text: to };
const bothWays = (pairs: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(pairs).flatMap(([name, opposite]) => [
      [name, opposite] as const,
      [opposite, name] as const,
    ]),
  );
const negated = (change: Change | null): Assertion | null =>
  change === null ? null : { fallback: change };
/** Two compared values, the expected one first; null without one. `otherwise`: the fallback. */
const comparison = (
  expected: Span | undefined,
  actual: Span | undefined,
  otherwise: Change | null,
  isExact = true,
): Assertion | null =>
  expected === undefined ? null : { values: [expected, actual], fallback: otherwise, isExact };
const withTolerance = (assertion: Assertion | null, amount: Tolerance | null): Assertion | null =>
  assertion === null || amount === null
    ? assertion
    : { ...assertion, isExact: false, tolerance: amount };
/**
 * `isTrue`: whether the expression must be true; if it must be false, only the negation makes the
 * assertion wrong.
 */
const truthAssertion = (truth: Span, otherwise: string, isTrue = true): Assertion => ({
  ...(isTrue ? { truth } : {}),
  fallback: { ...truth, text: otherwise },
});

/**
 * A call that is a whole statement may be a helper that asserts: the literal after the first
 * argument, or the last argument that is not a message.
 */
const guessFromArguments = ({ isStatement, args, textOf }: Call): readonly Assertion[] => {
  if (!isStatement || args.length < 2) return [];
  const others = args.slice(1);
  // A text behind another argument is mostly the message of a failure.
  const isMessage = (span: Span | undefined): boolean =>
    span !== undefined && others.length > 1 && /^[fbru]?["'`]/.test(textOf(span));
  const values = isMessage(others.at(-1)) ? others.slice(0, -1) : others;

  const guesses = new Set(
    [values.find((span) => plainLiteral.test(textOf(span))), values.at(-1), values[0]].filter(
      (span) => span !== undefined,
    ),
  );
  return [...guesses].map((span, index) => ({
    values: [span],
    score: statementScore - index * otherKindPenalty,
  }));
};
const plainLiteral = /^(?:-?\d[\w.]*|"[^"]*"|'[^']*'|true|false|True|False)$/;

const jsEquals =
  /^(?:(?:deep|strict|deepStrict|loose)?[eE]quals?|same|is|eq|eql|toBe|toEqual|toStrictEqual|toEql)$/;
const jsDiffers = /^not(?:Deep|Strict|DeepStrict|Loose)?(?:Equals?|Same|Is)?$/;
const jsOpposites = bothWays({
  throws: "doesNotThrow",
  rejects: "doesNotReject",
  match: "doesNotMatch",
});
/**
 * Matchers whose first argument is a value, or is looked for in one; of more arguments the last is
 * the value.
 */
const jsValueMatchers =
  /^(?:toHaveLength|toBeCloseTo|toHaveProperty|toMatchObject|toHaveBeen\w*(?:With|Times)|toHaveReturnedWith)$/;
const jsSearchMatchers = /^(?:toContain\w*|toMatch|toThrow\w*|include|includes|contain|contains)$/;
/** Names of functions that assert nothing by themselves. */
const otherFunction =
  /^(?:if|for|while|switch|catch|return|test|it|describe|suite|context|specify|before\w*|after\w*|each|forEach|map|push|set|then|log|write\w*|mock\w*|spyOn|setTimeout|require|print)$/;

const readTolerance = ({ name, args, textOf }: Call): Tolerance | null =>
  parseTolerance(name, args.map(textOf));

const jsRule: Rule = (call, nonce) => {
  const { name, before, args, textOf, position } = call;
  const nonceText = `"${nonce}"`;
  const [first, second] = args;
  const isChained =
    /\.(?:to|be|deep|and|have|should|not|resolves|rejects|eventually)\.$|\)\s*\.$/.test(before) ||
    /^to[A-Z]/.test(name);

  const not = /\bnot\.(?:\w+\.){0,3}$/.exec(before);
  if (/^(?:closeTo|approximately)$/.test(name) && not === null && before.endsWith(".")) {
    return {
      values: [args.length > 2 && !isChained ? second : first],
      tolerance: readTolerance(call),
      fallback: null,
    };
  }

  if (isChained && (jsEquals.test(name) || jsSearchMatchers.test(name) || /^to[A-Z]/.test(name))) {
    if (not !== null) {
      return negated({
        from: position - not[0].length,
        to: position - not[0].length + 4,
        text: "",
      });
    }

    if (jsEquals.test(name)) return comparison(first, undefined, replaced(first, nonceText));
    const negation =
      /\)\s*\.$|(?:resolves|rejects)\.$/.test(before) && /^to[A-Z]/.test(name)
        ? { from: position, to: position, text: "not." }
        : null;

    if (first !== undefined && jsSearchMatchers.test(name)) {
      return { searched: first, fallback: negation };
    }

    if (first !== undefined && jsValueMatchers.test(name)) {
      return {
        literal: name === "toHaveProperty" ? args.at(-1) : first,
        fallback: negation,
        tolerance: readTolerance(call),
      };
    }

    return negated(negation);
  }

  if (jsEquals.test(name) && args.length >= 2) {
    return comparison(second, first, replaced(second, nonceText));
  }

  if (jsDiffers.test(name) && args.length >= 2 && first !== undefined) {
    return negated(replaced(second, textOf(first).replaceAll("\n", " ")));
  }

  const isOfAssert = /(?:assert|\bt)\.$/.test(before);
  if (isOfAssert && jsOpposites.has(name)) return negated(renamed(call, jsOpposites.get(name)));
  const isTruth = isOfAssert
    ? /^(?:ok|notOk|true|false|truthy|falsy|isTrue|isFalse|assert)$/
    : /^(?:assert|ok)$/;

  const isOtherAssert =
    !isOfAssert &&
    second !== undefined &&
    plainLiteral.test(textOf(second)) &&
    !/^["'`]/.test(textOf(second)); // a message is text
  if (
    isTruth.test(name) &&
    !isOtherAssert &&
    !(before.endsWith(".") && !isOfAssert) &&
    first !== undefined
  ) {
    return truthAssertion(
      first,
      `!(${textOf(first)})`,
      !/^(?:notOk|false|falsy|isFalse)$/.test(name),
    );
  }

  return otherFunction.test(name) ? null : guessFromArguments(call);
};

const pythonOpposites = bothWays({
  assertIn: "assertNotIn",
  assertIsNone: "assertIsNotNone",
  assertIsInstance: "assertNotIsInstance",
  assertRegex: "assertNotRegex",
  assertGreater: "assertLessEqual",
  assertGreaterEqual: "assertLess",
});

const pythonRule: Rule = (call, nonce) => {
  const { name, args, textOf } = call;
  const nonceText = `"${nonce}"`;
  const [first, second] = args;

  if (/^assert(?!Not)\w*Equals?$|^assertIs$/.test(name) && args.length >= 2) {
    return withTolerance(
      comparison(second, first, replaced(second, nonceText), !/almost|close/i.test(name)),
      readTolerance(call),
    );
  }

  if (/^assertNot\w*Equals?$|^assertIsNot$/.test(name) && first !== undefined) {
    return negated(replaced(second, textOf(first).replaceAll("\n", " ")));
  }

  if (/^assert(?:True|False)$/.test(name) && first !== undefined) {
    return truthAssertion(first, `not (${textOf(first)})`, name === "assertTrue");
  }

  if (/^(?:raises|assertRaises|assertRaisesRegex)$/.test(name)) {
    return negated(replaced(first, `type("E${nonce}", (Exception,), {})`));
  }

  if (/^assert_\w*called\w*with$/.test(name)) return { literal: args.at(-1), fallback: null };
  if (pythonOpposites.has(name)) {
    return {
      searched: name === "assertIn" ? first : undefined,
      fallback: renamed(call, pythonOpposites.get(name)),
    };
  }

  return otherFunction.test(name) || /^(?:super|append|extend|patch|parametrize)$/.test(name)
    ? null
    : guessFromArguments(call);
};

const rustRule: Rule = ({ name, args, textOf }) => {
  const [first, second] = args;
  if (first === undefined) return null;
  if (name === "assert!") return truthAssertion(first, `!(${textOf(first)})`);
  if (second === undefined || !/^assert_(?:eq|ne)!$/.test(name)) return null;
  // Not a literal: a macro of the work could tell `false` from an expression.
  const [sign, wrong] = name === "assert_eq!" ? ["==", "!true"] : ["!=", "!false"];

  const otherwise = {
    from: first.from,
    to: second.to,
    text: `(${textOf(first)}) ${sign} (${textOf(second)}), ${wrong}`,
  };
  return name === "assert_eq!" ? comparison(second, first, otherwise) : negated(otherwise);
};

const goOpposites = bothWays({
  Equal: "NotEqual",
  True: "False",
  Nil: "NotNil",
  Error: "NoError",
  Contains: "NotContains",
  Empty: "NotEmpty",
  Same: "NotSame",
});
const goRule: Rule = (call) => {
  if (!/\b(?:assert|require)\.$/.test(call.before)) return guessHelperExpectation(call);
  const otherwise = renamed(call, goOpposites.get(call.name));

  if (call.name === "InDelta") {
    return { values: [call.args[1]], tolerance: readTolerance(call), fallback: otherwise };
  }

  return call.name === "Equal"
    ? comparison(call.args[1], call.args[2], otherwise)
    : negated(otherwise);
};

/**
 * A helper of the project's own that gets the test (`t`), an answer and, before or after it, what
 * is expected.
 */
function guessHelperExpectation({
  args: [test, second, third, ...others],
  ...call
}: Call): readonly Assertion[] | null {
  if (
    test === undefined ||
    second === undefined ||
    third === undefined ||
    !/^(?:t|tb|b|c)$/.test(call.textOf(test))
  ) {
    return null;
  }

  const isAnswer = (span: Span): boolean => /\w\(/.test(call.textOf(span));
  const values = isAnswer(third) && !isAnswer(second) ? [third, second] : [second, third];
  return values.some(isAnswer)
    ? guessFromArguments({ ...call, args: [...values, ...others] })
    : null;
}

const cOpposites = bothWays({
  ASSERT_EQ: "ASSERT_NE",
  EXPECT_EQ: "EXPECT_NE",
  ASSERT_TRUE: "ASSERT_FALSE",
  EXPECT_TRUE: "EXPECT_FALSE",
});
const cRule: Rule = (call) => {
  const { name, args, textOf } = call;
  const [first, second] = args;
  const otherwise = renamed(call, cOpposites.get(name));

  if (name.endsWith("_NEAR") && args.length === 3) {
    return { values: [second], tolerance: readTolerance(call), fallback: null };
  }

  if (name.endsWith("_EQ") && otherwise !== null) return comparison(second, first, otherwise);
  if (otherwise !== null) return negated(otherwise);
  if (first === undefined) return null;
  if (!/^(?:assert|CHECK|REQUIRE|ck_assert|TEST_ASSERT|assert_true)$/.test(name)) {
    return /\w\(/.test(textOf(first)) ? guessFromArguments(call) : null;
  }

  const text = textOf(first);
  const isSingleComparison = text.split("==").length === 2 && !/&&|\|\||!=/.test(text);
  return truthAssertion(first, isSingleComparison ? text.replace("==", "!=") : `!(${text})`);
};

const javaOpposites = bothWays({
  assertEquals: "assertNotEquals",
  assertTrue: "assertFalse",
  assertNull: "assertNotNull",
  assertSame: "assertNotSame",
});
const javaRule: Rule = (call) => {
  const otherwise = renamed(call, javaOpposites.get(call.name));
  return call.name === "assertEquals"
    ? withTolerance(comparison(call.args[0], call.args[1], otherwise), readTolerance(call))
    : negated(otherwise);
};

/**
 * `cmp_ok` has an operator between its values, and no fallback: to most operators a text that isn't
 * a number is 0.
 */
export const perlRule: Rule = ({ name, args: [first, second, third], textOf, position }, nonce) => {
  if (first === undefined) return null;
  if (name === "ok") return truthAssertion(first, `!(${textOf(first)})`);
  if (name === "cmp_ok") return third === undefined ? null : comparison(third, first, null);
  if (name === "isnt") return negated(replaced(second, textOf(first).replaceAll("\n", " ")));
  if (name === "like") {
    return {
      searched: second,
      fallback: { from: position, to: position + name.length, text: "unlike" },
    };
  }

  if (name === "unlike") {
    return negated({ from: position, to: position + name.length, text: "like" });
  }

  return comparison(second, first, replaced(second, `'${nonce}'`));
};

export const assertionRules: Readonly<Record<SourceLanguage, Rule>> = {
  js: jsRule,
  py: pythonRule,
  go: goRule,
  rust: rustRule,
  java: javaRule,
  c: cRule,
};
