// assertion-rules: for each language, which calls assert something, what they expect, and how they
// are negated if the expected value cannot be changed. Pure; there is no parser: a call is
// recognised by its name and what precedes it.

import type { SourceLanguage } from "../../protected/source-language.ts";
import type { Span } from "../source-text/brackets.ts";
import {
  type Assertion,
  bothWays,
  type Call,
  comparison,
  guessFromArguments,
  negated,
  otherFunction,
  readTolerance,
  renamed,
  replaced,
  type Rule,
  toOneLine,
  truthAssertion,
  withTolerance,
} from "./assertion.ts";
import { jsRule } from "./js-assertions.ts";

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
    return negated(replaced(second, toOneLine(textOf(first))));
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
  if (name === "isnt") return negated(replaced(second, toOneLine(textOf(first))));
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
