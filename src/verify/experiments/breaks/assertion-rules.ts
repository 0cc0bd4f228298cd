// assertion-rules: which calls of a language assert something, what they expect, and how they are negated if the expected value cannot be
// changed. Pure; no parser: a call is recognised by its name and what precedes it.
// Invariants X1 and on: verify/experiments/breaks/expectations.ts.

import type { Language } from "../../protected/kinds.ts";
import { type Within, withinOf } from "./tolerances.ts";

export type Span = { readonly from: number; readonly to: number };
export type Change = Span & { readonly text: string };
export type Call = {
  readonly name: string;
  readonly at: number;
  readonly before: string;
  readonly args: readonly Span[];
  /** The text of a span, as it is written. */
  readonly of: (span: Span) => string;
  readonly isStatement: boolean;
};
/** An assertion. Its expected value is changed into another of the same kind (X4), else it is broken `otherwise`. */
export type Assertion = {
  /** What it compares, the expected value first. */ readonly values?: readonly (Span | undefined)[];
  /** Values it compares in its own way: changed only if they are literals. */ readonly literal?: Span | undefined;
  /** A value it looks for in something larger. */ readonly sought?: Span | undefined;
  /** An expression that must be true. */ readonly truth?: Span;
  readonly otherwise?: Change | null;
  readonly score?: number;
  /** It compares exactly: no near value may pass. */ readonly isExact?: boolean;
  /** Its tolerance, if known. */ readonly within?: Within | null;
};
type Rule = (call: Call, nonce: string) => Assertion | readonly Assertion[] | null;

/** Above the weight of a literal near an assertion. */
export const scoreDefault = 4;
const scoreOfStatements = 3;
/** A value of another kind is weaker evidence than one of the same kind. */
export const scoreLessNear = 0.2;

const put = (span: Span | undefined, text: string): Change | null => (span === undefined ? null : { ...span, text });
const renamed = ({ name, at }: Call, to: string | undefined): Change | null =>
  to === undefined ? null : { from: at, to: at + name.length, text: to };
const both = (pairs: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(pairs).flatMap(([one, other]) => [[one, other] as const, [other, one] as const]));
const turned = (change: Change | null): Assertion | null => (change === null ? null : { otherwise: change });
/** Two compared values, the second is the expected one. */
const compared = (expected: Span | undefined, actual: Span | undefined, otherwise: Change | null, isExact = true): Assertion | null =>
  expected === undefined ? null : { values: [expected, actual], otherwise, isExact };
const forgiving = (assertion: Assertion | null, amount: Within | null): Assertion | null =>
  assertion === null || amount === null ? assertion : { ...assertion, isExact: false, within: amount };
/** A negated comparison is false for more than one other value. */
const truthOf = (truth: Span, otherwise: string, isTrue = true): Assertion => ({
  ...(isTrue ? { truth } : {}),
  otherwise: { ...truth, text: otherwise },
});

/**
 * A call that is a whole statement may be a helper that asserts: the literal after the first argument, or the last argument that is not a
 * message.
 */
const byArguments = ({ isStatement, args, of }: Call): readonly Assertion[] => {
  if (!isStatement || args.length < 2) return [];
  const rest = args.slice(1);
  const isMessage = (one: Span | undefined): boolean => one !== undefined && rest.length > 1 && /^[fbru]?["'`]/.test(of(one));
  const spoken = isMessage(rest.at(-1)) ? rest.slice(0, -1) : rest;
  const guesses = new Set([spoken.find((one) => isPlain.test(of(one))), spoken.at(-1), spoken[0]].filter((one) => one !== undefined));
  return [...guesses].map((one, index) => ({ values: [one], score: scoreOfStatements - index * scoreLessNear }));
};
const isPlain = /^(?:-?\d[\w.]*|"[^"]*"|'[^']*'|true|false|True|False)$/;

const jsEquals = /^(?:(?:deep|strict|deepStrict|loose)?[eE]quals?|same|is|eq|eql|toBe|toEqual|toStrictEqual|toEql)$/;
const jsDiffers = /^not(?:Deep|Strict|DeepStrict|Loose)?(?:Equals?|Same|Is)?$/;
const jsTurned = both({ throws: "doesNotThrow", rejects: "doesNotReject", match: "doesNotMatch" });
/** Matchers whose first argument is a value, or is looked for in one; of more arguments the last is the value. */
const jsValued = /^(?:toHaveLength|toBeCloseTo|toHaveProperty|toMatchObject|toHaveBeen\w*(?:With|Times)|toHaveReturnedWith)$/;
const jsSought = /^(?:toContain\w*|toMatch|toThrow\w*|include|includes|contain|contains)$/;
const assertsNothing =
  /^(?:if|for|while|switch|catch|return|test|it|describe|suite|context|specify|before\w*|after\w*|each|forEach|map|push|set|then|log|write\w*|mock\w*|spyOn|setTimeout|require|print)$/;

const within = ({ name, args, of }: Call): Within | null => withinOf(name, args.map(of));

const ofJs: Rule = (call, nonce) => {
  const { name, before, args, of, at } = call;
  const said = `"${nonce}"`;
  const [first, second] = args;
  const isChained = /\.(?:to|be|deep|and|have|should|not|resolves|rejects|eventually)\.$|\)\s*\.$/.test(before) || /^to[A-Z]/.test(name);
  const not = /\bnot\.(?:\w+\.){0,3}$/.exec(before);
  if (/^(?:closeTo|approximately)$/.test(name) && not === null && before.endsWith("."))
    return { values: [args.length > 2 && !isChained ? second : first], within: within(call), otherwise: null };
  if (isChained && (jsEquals.test(name) || jsSought.test(name) || /^to[A-Z]/.test(name))) {
    if (not !== null) return turned({ from: at - not[0].length, to: at - not[0].length + 4, text: "" });
    if (jsEquals.test(name)) return compared(first, undefined, put(first, said));
    const denied = /\)\s*\.$|(?:resolves|rejects)\.$/.test(before) && /^to[A-Z]/.test(name) ? { from: at, to: at, text: "not." } : null;
    if (first !== undefined && jsSought.test(name)) return { sought: first, otherwise: denied };
    if (first !== undefined && jsValued.test(name))
      return { literal: name === "toHaveProperty" ? args.at(-1) : first, otherwise: denied, within: within(call) };
    return turned(denied);
  }
  if (jsEquals.test(name) && args.length >= 2) return compared(second, first, put(second, said));
  if (jsDiffers.test(name) && args.length >= 2 && first !== undefined) return turned(put(second, of(first).replaceAll("\n", " ")));
  const isOfAssert = /(?:assert|\bt)\.$/.test(before);
  if (isOfAssert && jsTurned.has(name)) return turned(renamed(call, jsTurned.get(name)));
  const isTruth = isOfAssert ? /^(?:ok|notOk|true|false|truthy|falsy|isTrue|isFalse|assert)$/ : /^(?:assert|ok)$/;
  const isOwn = !isOfAssert && second !== undefined && isPlain.test(of(second)) && !/^["'`]/.test(of(second)); // a message is text
  if (isTruth.test(name) && !isOwn && !(before.endsWith(".") && !isOfAssert) && first !== undefined)
    return truthOf(first, `!(${of(first)})`, !/^(?:notOk|false|falsy|isFalse)$/.test(name));
  return assertsNothing.test(name) ? null : byArguments(call);
};

const pyTurned = both({
  assertIn: "assertNotIn",
  assertIsNone: "assertIsNotNone",
  assertIsInstance: "assertNotIsInstance",
  assertRegex: "assertNotRegex",
  assertGreater: "assertLessEqual",
  assertGreaterEqual: "assertLess",
});

const ofPython: Rule = (call, nonce) => {
  const { name, args, of } = call;
  const text = `"${nonce}"`;
  const [first, second] = args;
  if (/^assert(?!Not)\w*Equals?$|^assertIs$/.test(name) && args.length >= 2)
    return forgiving(compared(second, first, put(second, text), !/almost|close/i.test(name)), within(call));
  if (/^assertNot\w*Equals?$|^assertIsNot$/.test(name) && first !== undefined) return turned(put(second, of(first).replaceAll("\n", " ")));
  if (/^assert(?:True|False)$/.test(name) && first !== undefined) return truthOf(first, `not (${of(first)})`, name === "assertTrue");
  if (/^(?:raises|assertRaises|assertRaisesRegex)$/.test(name)) return turned(put(first, `type("E${nonce}", (Exception,), {})`));
  if (/^assert_\w*called\w*with$/.test(name)) return { literal: args.at(-1), otherwise: null };
  if (pyTurned.has(name)) return { sought: name === "assertIn" ? first : undefined, otherwise: renamed(call, pyTurned.get(name)) };
  return assertsNothing.test(name) || /^(?:super|append|extend|patch|parametrize)$/.test(name) ? null : byArguments(call);
};

const ofRust: Rule = ({ name, args, of }) => {
  const [first, second] = args;
  if (first === undefined) return null;
  if (name === "assert!") return truthOf(first, `!(${of(first)})`);
  if (second === undefined || !/^assert_(?:eq|ne)!$/.test(name)) return null;
  const [sign, wrong] = name === "assert_eq!" ? ["==", "!true"] : ["!=", "!false"]; // an expression: a macro may tell it from a literal
  const otherwise = { from: first.from, to: second.to, text: `(${of(first)}) ${sign} (${of(second)}), ${wrong}` };
  return name === "assert_eq!" ? compared(second, first, otherwise) : turned(otherwise);
};

const goTurned = both({
  Equal: "NotEqual",
  True: "False",
  Nil: "NotNil",
  Error: "NoError",
  Contains: "NotContains",
  Empty: "NotEmpty",
  Same: "NotSame",
});
const ofGo: Rule = (call) => {
  if (!/\b(?:assert|require)\.$/.test(call.before)) return null;
  const otherwise = renamed(call, goTurned.get(call.name));
  if (call.name === "InDelta") return { values: [call.args[1]], within: within(call), otherwise };
  return call.name === "Equal" ? compared(call.args[1], call.args[2], otherwise) : turned(otherwise);
};

const cTurned = both({ ASSERT_EQ: "ASSERT_NE", EXPECT_EQ: "EXPECT_NE", ASSERT_TRUE: "ASSERT_FALSE", EXPECT_TRUE: "EXPECT_FALSE" });
export const ofC: Rule = (call) => {
  const { name, args, of } = call;
  const [first, second] = args;
  const otherwise = renamed(call, cTurned.get(name));
  if (name.endsWith("_NEAR") && args.length === 3) return { values: [second], within: within(call), otherwise: null };
  if (name.endsWith("_EQ") && otherwise !== null) return compared(second, first, otherwise);
  if (otherwise !== null) return turned(otherwise);
  if (first === undefined) return null;
  if (!/^(?:assert|CHECK|REQUIRE|ck_assert|TEST_ASSERT|assert_true)$/.test(name)) return /\w\(/.test(of(first)) ? byArguments(call) : null;
  const text = of(first);
  const isOne = text.split("==").length === 2 && !/&&|\|\||!=/.test(text);
  return truthOf(first, isOne ? text.replace("==", "!=") : `!(${text})`);
};

const javaTurned = both({
  assertEquals: "assertNotEquals",
  assertTrue: "assertFalse",
  assertNull: "assertNotNull",
  assertSame: "assertNotSame",
});
const ofJava: Rule = (call) => {
  const otherwise = renamed(call, javaTurned.get(call.name));
  return call.name === "assertEquals" ? forgiving(compared(call.args[0], call.args[1], otherwise), within(call)) : turned(otherwise);
};

export const rules: Readonly<Record<Language, Rule>> = { js: ofJs, py: ofPython, go: ofGo, rust: ofRust, java: ofJava };
