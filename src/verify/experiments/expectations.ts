// expectations: assertions that can be turned into wrong ones whatever they expect, also where it is computed: what is expected becomes a
// value made for this run, which no honest answer equals, or the assertion is turned round. Pure.
//
// Invariants:
//   X1. The judge itself is asked again wherever it can be: the same function with another expectation, not another function.
//   X2. As many lines as before: what stands below keeps its place.
//   X3. Bounded: so many calls a file, so many letters a call.

import { type Family, familyOf } from "../oracles/kinds.ts";
import { masked } from "../oracles/masked.ts";
import { closeOf, lineCounter } from "./cases.ts";
import type { Flip } from "./flips.ts";

type Span = { readonly from: number; readonly to: number };
type Change = Span & { readonly text: string; readonly score?: number };
type Call = {
  readonly name: string;
  readonly at: number;
  readonly before: string;
  readonly args: readonly Span[];
  /** The text of a span, as it is written. */
  readonly of: (span: Span) => string;
  readonly isStatement: boolean;
};
type Rule = (call: Call, nonce: string) => Change | null;

const textCharsMax = 400_000;
const callsMax = 5_000;
const spanLinesMax = 40;
/** Above what a literal near an assertion is worth. */
const scoreDefault = 4;
const scoreOfStatements = 3;

/** The assertions of a file, each broken, in the order of its lines. */
export function breaksIn(path: string, text: string, nonce: string): readonly Flip[] {
  const isC = /\.(?:c|cc|cpp|cxx|h|hpp)$/.test(path);
  const family = isC ? "java" : familyOf(path);
  if (family === null || text.length > textCharsMax) return [];
  const code = masked(text, family);
  const rule = isC ? ofC : rules[family];
  const changes = callsIn(code, text).flatMap((call) => rule(call, nonce) ?? []);
  const more = family === "py" ? pythonAsserts(code, text, nonce) : family === "go" ? goComparisons(code) : [];
  const lineAt = lineCounter(text);
  const flips = [...changes, ...more].flatMap((change) => flipOf(path, text, change, lineAt) ?? []);
  return flips.toSorted((one, other) => one.line - other.line);
}

function flipOf(
  path: string,
  text: string,
  { from, to, text: put, score = scoreDefault }: Change,
  lineAt: (at: number) => number,
): Flip | null {
  const start = text.lastIndexOf("\n", from - 1) + 1;
  const end = text.indexOf("\n", to) === -1 ? text.length : text.indexOf("\n", to);
  const [was, lines] = [text.slice(start, end), text.slice(from, to).split("\n").length - put.split("\n").length];
  if (lines < 0 || was.split("\n").length > spanLinesMax) return null;
  return { path, line: lineAt(start), was, broken: text.slice(start, from) + put + "\n".repeat(lines) + text.slice(to, end), score }; // X2
}

function callsIn(code: string, text: string): readonly Call[] {
  const found: Call[] = [];
  for (const { 0: open, 1: name = "", index } of code.matchAll(/([\w$]+!?)\s*\(/g)) {
    if (found.length >= callsMax) break; // X3
    const before = code.slice(Math.max(0, index - 60), index);
    if (/\b(?:function|def|fn|func|new)\s+$/.test(before)) continue;
    const inner = argsFrom(code, index + open.length - 1);
    if (inner === null) continue;
    const { args, close } = inner;
    const isChained = /^\s*\./.test(code.slice(close, close + 40));
    const isStatement = !isChained && /(?:^|[\n;{])[ \t]*(?:await[ \t]+)?(?:[\w$]+\.)*$|=>\s*(?:[\w$]+\.)*$/.test(before);
    found.push({ name, at: index, before, args, of: ({ from, to }) => text.slice(from, to).trim(), isStatement });
  }
  return found;
}

const argsCharsMax = 4_000;

/** What stands between the commas of a call; null where it does not close. */
function argsFrom(code: string, open: number): { readonly args: readonly Span[]; readonly close: number } | null {
  const close = closeOf(code.slice(0, open + argsCharsMax), open);
  if (close === null) return null;
  const args: Span[] = [];
  let [depth, from] = [0, open + 1];
  for (let at = open + 1; at < close - 1; at += 1) {
    const letter = code[at] ?? "";
    if ("([{".includes(letter)) depth += 1;
    if (")]}".includes(letter)) depth -= 1;
    if (letter !== "," || depth !== 0) continue;
    args.push({ from, to: at });
    from = at + 1;
  }
  if (code.slice(from, close - 1).trim() !== "") args.push({ from, to: close - 1 });
  return { args: args.map((one) => trimmed(code, one)), close };
}

function trimmed(code: string, { from, to }: Span): Span {
  const inner = code.slice(from, to);
  return { from: from + inner.length - inner.trimStart().length, to: to - (inner.length - inner.trimEnd().length) };
}

const put = (span: Span | undefined, text: string): Change | null => (span === undefined ? null : { ...span, text });
const renamed = ({ name, at }: Call, to: string | undefined): Change | null =>
  to === undefined ? null : { from: at, to: at + name.length, text: to };
const both = (pairs: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(pairs).flatMap(([one, other]) => [[one, other] as const, [other, one] as const]));
/** A call that is a sentence of its own may be a helper that asserts: what it is given last is what it expects. */
const byLastArgument = ({ isStatement, args }: Call, nonce: string): Change | null => {
  const last = args.at(-1);
  return isStatement && args.length >= 2 && last !== undefined ? { ...last, text: nonce, score: scoreOfStatements } : null;
};

const jsEquals = /^(?:(?:deep|strict|deepStrict|loose)?[eE]quals?|same|is|eq|eql|toBe|toEqual|toStrictEqual|toEql)$/;
const jsDiffers = /^not(?:Deep|Strict|DeepStrict|Loose)?(?:Equals?|Same|Is)?$/;
const jsTurned = both({ throws: "doesNotThrow", rejects: "doesNotReject", match: "doesNotMatch" });
const assertsNothing =
  /^(?:if|for|while|switch|catch|return|test|it|describe|suite|context|specify|before\w*|after\w*|each|forEach|map|push|set|then|log|write\w*|mock\w*|spyOn|setTimeout|require|print)$/;

const ofJs: Rule = (call, nonce) => {
  const { name, before, args, of, at } = call;
  const said = `"${nonce}"`;
  const [first, second] = args;
  const isChained = /\.(?:to|be|deep|and|have|should|not|resolves|rejects|eventually)\.$|\)\s*\.$/.test(before) || /^to[A-Z]/.test(name);
  const not = /\bnot\.(?:\w+\.){0,3}$/.exec(before);
  if (isChained && (jsEquals.test(name) || /^to[A-Z]/.test(name))) {
    if (not !== null) return { from: at - not[0].length, to: at - not[0].length + 4, text: "" };
    if (jsEquals.test(name)) return put(first, said);
    return /\)\s*\.$|(?:resolves|rejects)\.$/.test(before) ? { from: at, to: at, text: "not." } : null;
  }
  if (jsEquals.test(name) && args.length >= 2) return put(second, said);
  if (jsDiffers.test(name) && args.length >= 2 && first !== undefined) return put(second, of(first).replaceAll("\n", " "));
  const isOfAssert = /(?:assert|\bt)\.$/.test(before);
  if (isOfAssert && jsTurned.has(name)) return renamed(call, jsTurned.get(name));
  const isTruth = isOfAssert ? /^(?:ok|notOk|true|false|truthy|falsy|isTrue|isFalse|assert)$/ : /^(?:assert|ok)$/;
  if (isTruth.test(name) && !(before.endsWith(".") && !isOfAssert) && first !== undefined) return put(first, `!(${of(first)})`);
  return assertsNothing.test(name) ? null : byLastArgument(call, said);
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
  const said = `"${nonce}"`;
  const [first, second] = args;
  if (/^assert(?!Not)\w*Equals?$|^assertIs$/.test(name) && args.length >= 2) return put(second, said);
  if (/^assertNot\w*Equals?$|^assertIsNot$/.test(name) && first !== undefined) return put(second, of(first).replaceAll("\n", " "));
  if (/^assert(?:True|False)$/.test(name) && first !== undefined) return put(first, `not (${of(first)})`);
  if (/^(?:raises|assertRaises|assertRaisesRegex)$/.test(name)) return put(first, `type("E${nonce}", (Exception,), {})`);
  if (pyTurned.has(name)) return renamed(call, pyTurned.get(name));
  return assertsNothing.test(name) || /^(?:super|append|extend|patch|parametrize)$/.test(name) ? null : byLastArgument(call, said);
};

const ofRust: Rule = (call) => {
  const { name, args, of } = call;
  const [first, second] = args;
  if (first === undefined) return null;
  if (name === "assert!") return put(first, `!(${of(first)})`);
  if (second === undefined || !/^assert_(?:eq|ne)!$/.test(name)) return null;
  const [compared, wrong] = name === "assert_eq!" ? ["==", "!true"] : ["!=", "!false"]; // an expression: a macro may tell it from a literal
  return { from: first.from, to: second.to, text: `(${of(first)}) ${compared} (${of(second)}), ${wrong}` };
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
const ofGo: Rule = (call) => (/\b(?:assert|require)\.$/.test(call.before) ? renamed(call, goTurned.get(call.name)) : null);

const cTurned = both({ ASSERT_EQ: "ASSERT_NE", EXPECT_EQ: "EXPECT_NE", ASSERT_TRUE: "ASSERT_FALSE", EXPECT_TRUE: "EXPECT_FALSE" });
const ofC: Rule = (call) => {
  const { name, args, of } = call;
  const [first] = args;
  if (cTurned.has(name)) return renamed(call, cTurned.get(name));
  if (first === undefined || !/^(?:assert|CHECK|REQUIRE|ck_assert|TEST_ASSERT|assert_true)$/.test(name)) return null;
  const said = of(first);
  const isOne = said.split("==").length === 2 && !/&&|\|\||!=/.test(said);
  return put(first, isOne ? said.replace("==", "!=") : `!(${said})`);
};

const javaTurned = both({
  assertEquals: "assertNotEquals",
  assertTrue: "assertFalse",
  assertNull: "assertNotNull",
  assertSame: "assertNotSame",
});
const ofJava: Rule = (call) => renamed(call, javaTurned.get(call.name));

const rules: Readonly<Record<Family, Rule>> = { js: ofJs, py: ofPython, go: ofGo, rust: ofRust, java: ofJava };

/** `assert EXPRESSION, words`: what stands behind its only comparison, else all of it. */
function pythonAsserts(code: string, text: string, nonce: string): readonly Change[] {
  return [...code.matchAll(/^[ \t]*assert\b(?!\s*=)/gm)].slice(0, callsMax).flatMap(({ 0: open, index }) => {
    const from = index + open.length;
    const { end, comma, equals, hasOthers } = statementFrom(code, from);
    const said = trimmed(code, { from, to: comma ?? end });
    if (said.to <= said.from) return [];
    const [only] = equals;
    if (equals.length === 1 && only !== undefined && !hasOthers)
      return [{ ...trimmed(code, { from: only + 2, to: said.to }), text: `"${nonce}"` }];
    return [{ ...said, text: `not (${text.slice(said.from, said.to)})` }];
  });
}

function statementFrom(code: string, from: number) {
  const equals: number[] = [];
  let [depth, at] = [0, from];
  let comma: number | null = null;
  for (; at < code.length && at < from + argsCharsMax; at += 1) {
    const letter = code[at] ?? "";
    if ("([{".includes(letter)) depth += 1;
    if (")]}".includes(letter)) depth -= 1;
    if (depth < 0 || (letter === "\n" && depth === 0 && code[at - 1] !== "\\")) break;
    if (depth !== 0) continue;
    if (letter === "," && comma === null) comma = at;
    if (letter === "=" && code[at + 1] === "=" && comma === null) equals.push(at++);
  }
  const outer = code.slice(from, comma ?? at).replaceAll(/\([^()]*\)|\[[^[\]]*\]|\{[^{}]*\}/g, "");
  return { end: at, comma, equals, hasOthers: /\b(?:and|or|not|if|in|is|lambda)\b|!=|[<>]/.test(outer) };
}

/** `if got != want {`: turned round. What compares with nil is asked last. */
function goComparisons(code: string): readonly Change[] {
  return [...code.matchAll(/^[ \t]*if\b([^\n{]*)\{/gm)].slice(0, callsMax).flatMap(({ 0: open, index }) => {
    if (/&&|\|\|/.test(open)) return [];
    const signs = [...open.matchAll(/[!=]=(?!=)/g)];
    const [sign] = signs;
    const score = /\bnil\b/.test(open) ? 1 : scoreDefault;
    if (signs.length === 1 && sign !== undefined)
      return [{ from: index + sign.index, to: index + sign.index + 2, text: sign[0] === "!=" ? "==" : "!=", score }];
    const not = /(?:\bif|;)\s*(!)\s*[\w(]/.exec(open);
    if (signs.length > 0 || not === null) return [];
    const at = index + not.index + not[0].indexOf("!");
    return [{ from: at, to: at + 1, text: "", score }];
  });
}
