// js-assertions: which calls in JavaScript and TypeScript assert something, and what they expect:
// `expect(a).toBe(3)`, `assert.equal(a, 3)`, `t.ok(a)`, a helper of the project's own. Pure.

import {
  type Assertion,
  bothWays,
  type Call,
  type Change,
  comparison,
  guessFromArguments,
  negated,
  otherFunction,
  plainLiteral,
  readTolerance,
  renamed,
  replaced,
  type Rule,
  toOneLine,
  truthAssertion,
} from "./assertion.ts";

/** Functions and matchers that compare two values: `deepEqual`, `same`, `toBe`. */
const jsEquals =
  /^(?:(?:deep|strict|deepStrict|loose)?[eE]quals?|same|is|eq|eql|toBe|toEqual|toStrictEqual|toEql)$/;
/** Functions whose two arguments must differ. */
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

/** Between an answer and its matcher: `expect(a).to.be.`, `expect(a).`, `await expect(a).rejects.` */
const chain = /\.(?:to|be|deep|and|have|should|not|resolves|rejects|eventually)\.$|\)\s*\.$/;
/** `expect(a).not.`, `expect(a).not.to.be.` */
const negatedChain = /\bnot\.(?:\w+\.){0,3}$/;
const matcherName = /^to[A-Z]/;

export const jsRule: Rule = (call, nonce) => {
  const { name, before, args, textOf } = call;
  const [first, second] = args;
  const isChained = chain.test(before) || matcherName.test(name);
  const not = negatedChain.exec(before)?.[0];

  if (/^(?:closeTo|approximately)$/.test(name) && not === undefined && before.endsWith(".")) {
    const expected = args.length > 2 && !isChained ? second : first;
    return { values: [expected], tolerance: readTolerance(call), fallback: null };
  }

  if (isChained && isMatcher(name)) {
    return not === undefined ? readMatcher(call, nonce) : negated(removeNot(call, not));
  }

  if (first !== undefined && second !== undefined) {
    if (jsEquals.test(name)) return comparison(second, first, replaced(second, `"${nonce}"`));
    if (jsDiffers.test(name)) return negated(replaced(second, toOneLine(textOf(first))));
  }

  const isOfAssert = /(?:assert|\bt)\.$/.test(before);
  if (isOfAssert && jsOpposites.has(name)) return negated(renamed(call, jsOpposites.get(name)));
  if (first !== undefined && isTruthAssertion(call, isOfAssert)) {
    const mustBeTrue = !/^(?:notOk|false|falsy|isFalse)$/.test(name);
    return truthAssertion(first, `!(${textOf(first)})`, mustBeTrue);
  }

  return otherFunction.test(name) ? null : guessFromArguments(call);
};

const isMatcher = (name: string): boolean =>
  jsEquals.test(name) || jsSearchMatchers.test(name) || matcherName.test(name);

/** What a matcher that is not negated expects: `expect(a).toBe(3)`. */
function readMatcher(call: Call, nonce: string): Assertion | null {
  const { name, args } = call;
  const [first] = args;
  if (jsEquals.test(name)) return comparison(first, undefined, replaced(first, `"${nonce}"`));

  const fallback = addNot(call);
  if (first !== undefined && jsSearchMatchers.test(name)) return { searched: first, fallback };
  if (first !== undefined && jsValueMatchers.test(name)) {
    const literal = name === "toHaveProperty" ? args.at(-1) : first;
    return { literal, fallback, tolerance: readTolerance(call) };
  }

  return negated(fallback);
}

/** `expect(a).toBe(3)` becomes `expect(a).not.toBe(3)`; null for matchers of other libraries. */
function addNot({ name, before, position }: Call): Change | null {
  const isAfterExpect = /\)\s*\.$|(?:resolves|rejects)\.$/.test(before);
  return isAfterExpect && matcherName.test(name)
    ? { from: position, to: position, text: "not." }
    : null;
}

/** `not`: the end of the chain, from its `not.` on. */
function removeNot({ position }: Call, not: string): Change {
  const from = position - not.length;
  return { from, to: from + "not.".length, text: "" };
}

/** Whether the first argument must be true, or false: `assert.ok(a)`, `t.notOk(a)`, `assert(a)`. */
function isTruthAssertion({ name, before, args, textOf }: Call, isOfAssert: boolean): boolean {
  if (isOfAssert) return /^(?:ok|notOk|true|false|truthy|falsy|isTrue|isFalse|assert)$/.test(name);
  if (!/^(?:assert|ok)$/.test(name) || before.endsWith(".")) return false;
  const [, second] = args;
  return second === undefined || !isNumberOrBoolean(textOf(second));
}

/** A message is text; `assert(size(a), 3)` is a helper that compares. */
const isNumberOrBoolean = (text: string): boolean =>
  plainLiteral.test(text) && !/^["'`]/.test(text);
