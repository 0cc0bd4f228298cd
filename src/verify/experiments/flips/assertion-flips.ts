// assertion-flips: turns assertions into wrong ones, even if their expected value is computed: it becomes a value made for this run, which no
// honest result equals, or the assertion is negated. Pure.
//
// Invariants:
//   X1. The same assertion function is kept if possible: it gets another expectation, and is not replaced.
//   X2. As many lines as before, so that line numbers stay.
//   X3. Bounded in calls per file and characters per call.
//   X4. The expected value becomes another of the same kind and shape if possible: an object equal to everything of its type would notice
//       nothing else. Otherwise a value of another kind, or the negated assertion.
//   X5. Never what the test asks: another question may well have the same answer. The other side counts only if it is written out.

import { languageOf } from "../../protected/kinds.ts";
import { maskText } from "../../protected/masked.ts";
import {
  type Assertion,
  type Call,
  type Change,
  cRule,
  rules,
  assertionScore,
  otherKindPenalty,
  perlRule,
  type Span,
} from "./assertion-rules.ts";
import { findPerlAssertions, perlTestFile } from "../source/perl-tests.ts";
import { closingBracket, lineCounter } from "../source/test-cases.ts";
import type { Flip } from "./literal-flips.ts";
import { changedAtRun, createDraw, farValue, isWrittenOut, nearValue } from "./near-values.ts";
import { nearCondition } from "./near-conditions.ts";
import { findApprox, beyondTolerance, beyondToleranceAtRun, type Tolerance } from "./tolerances.ts";

const textCharsMax = 400_000;
const callsMax = 5_000;
const spanLinesMax = 40;

/** The assertions of a file, each broken, in the order of its lines; if there are two ways, the stronger first. */
export function assertionFlips(path: string, text: string, nonce: string): readonly Flip[] {
  const lineAt = lineCounter(text);
  const changes = findAssertions(path, text, nonce).flatMap((one) => assertionChanges(one, path, text, nonce));
  return changes.flatMap((change) => toFlip(path, text, change, lineAt) ?? []).toSorted((one, other) => one.line - other.line);
}

/** The expected values of a file's assertions, as source text. */
export const expectedValues = (path: string, text: string): readonly string[] =>
  findAssertions(path, text, "").flatMap(({ values: [value] = [] }) => (value === undefined ? [] : [text.slice(value.from, value.to)]));

type ComparedValues = { readonly actual: string; readonly expected: string | null };

/** The actual and the expected value (null if it only has to be true), as source text. */
export function comparedValues(path: string, text: string): readonly ComparedValues[] {
  return findAssertions(path, text, "").flatMap(({ values: [value, other] = [], truth, fallback }): readonly ComparedValues[] => {
    if (truth !== undefined) return [{ actual: text.slice(truth.from, truth.to), expected: null }];
    const before = value === undefined ? "" : text.slice(text.lastIndexOf("\n", value.from) + 1, value.from);
    if (value === undefined || fallback === undefined || /almost|close/i.test(before)) return [];
    const chained = /\bexpect\(([^\n]+)\)\.(?:to\.)?(?:deep\.)?\w+\(\s*$/.exec(before)?.[1];
    const actual = other === undefined ? chained : text.slice(other.from, other.to);
    return actual === undefined ? [] : [{ actual, expected: text.slice(value.from, value.to) }];
  });
}

export function findAssertions(path: string, text: string, nonce: string): readonly Assertion[] {
  if (perlTestFile.test(path)) return text.length > textCharsMax ? [] : perlCalls(text).flatMap((call) => perlRule(call, nonce) ?? []);
  const isC = cFile.test(path);
  const family = isC ? "java" : languageOf(path);
  if (family === null || text.length > textCharsMax) return [];
  const code = maskText(text, family);
  const rule = isC ? cRule : rules[family];
  const called = parseCalls(code, text).flatMap((call) => rule(call, nonce) ?? []);
  return [...called, ...(family === "py" ? pythonAsserts(code, text, nonce) : family === "go" ? goComparisons(code) : [])];
}

const cFile = /\.(?:c|cc|cpp|cxx|h|hpp)$/;
export type ScoredChange = Change & { readonly score: number };

function assertionChanges(
  { values = [], literal, searched, truth, fallback, score = assertionScore, isExact = false, tolerance }: Assertion,
  path: string,
  text: string,
  nonce: string,
) {
  const draw = createDraw(`${nonce} ${path} ${values[0]?.from ?? truth?.from ?? searched?.from ?? literal?.from}`);
  const of = ({ from, to }: Span): string => text.slice(from, to);
  const lineOf = ({ from, to }: Span): string => text.slice(text.lastIndexOf("\n", from - 1) + 1, `${text}\n`.indexOf("\n", to));
  const put = (span: Span, near: string | null): readonly ScoredChange[] => (near === null ? [] : [{ ...span, text: near, score }]);
  // X5
  const spans = values.flatMap((value, at) => (value === undefined || (at > 0 && !isWrittenOut(of(value))) ? [] : [value]));
  const family = cFile.test(path) ? null : languageOf(path);
  const kind = /\.[cm]?tsx?$/.test(path) ? "ts" : family === "js" || family === "py" ? family : null;
  const justBeyond = (span: Span, amount: Tolerance): readonly ScoredChange[] =>
    put(span, beyondTolerance(of(span), amount) ?? (kind === null ? null : beyondToleranceAtRun(of(span), kind, amount, nonce)));
  const forgiven = values[0] ?? literal;
  const approx = forgiven === undefined ? null : findApprox(of(forgiven));
  const found = [
    ...(forgiven === undefined || !tolerance ? [] : justBeyond(forgiven, tolerance)),
    ...(forgiven === undefined || approx === null
      ? []
      : justBeyond({ from: forgiven.from + approx.from, to: forgiven.from + approx.to }, approx.tolerance)),
    ...spans.flatMap((span) => put(span, nearValue(of(span), draw, isExact, lineOf(span)))),
    ...(literal === undefined ? [] : put(literal, nearValue(of(literal), draw))),
    ...(searched === undefined ? [] : put(searched, farValue(of(searched), draw))),
    ...(truth === undefined ? [] : put(truth, nearCondition(of(truth), draw))),
  ].slice(0, 1);
  const [value] = spans;
  const atRun = found.length === 0 && value !== undefined && kind !== null ? put(value, changedAtRun(of(value), kind, nonce, isExact)) : [];
  const near = [...found, ...atRun];
  return [...near, ...(fallback ? [{ ...fallback, score: near.length === 0 ? score : score - otherKindPenalty }] : [])];
}

export function toFlip(
  path: string,
  text: string,
  { from, to, text: put, score }: ScoredChange,
  lineAt: (position: number) => number,
): Flip | null {
  const start = text.lastIndexOf("\n", from - 1) + 1;
  const end = text.indexOf("\n", to) === -1 ? text.length : text.indexOf("\n", to);
  const [was, lines] = [text.slice(start, end), text.slice(from, to).split("\n").length - put.split("\n").length];
  if (lines < 0 || was.split("\n").length > spanLinesMax) return null;
  return { path, line: lineAt(start), was, broken: text.slice(start, from) + put + "\n".repeat(lines) + text.slice(to, end), score }; // X2
}

function parseCalls(code: string, text: string): readonly Call[] {
  const found: Call[] = [];
  for (const { 0: open, 1: name = "", index } of code.matchAll(/([\w$]+!?)\s*\(/g)) {
    if (found.length >= callsMax) break; // X3
    const before = code.slice(Math.max(0, index - 60), index);
    if (/\b(?:function|def|fn|func|new)\s+$/.test(before)) continue;
    const inner = parseArguments(code, index + open.length - 1);
    if (inner === null) continue;
    const { args, close } = inner;
    const isChained = /^\s*\./.test(code.slice(close, close + 40));
    const isStatement = !isChained && /(?:^|[\n;{])[ \t]*(?:await[ \t]+)?(?:[\w$]+\.)*$|(?:=>|\):)\s*(?:[\w$]+\.)*$/.test(before);
    found.push({ name, position: index, before, args, textOf: ({ from, to }) => text.slice(from, to).trim(), isStatement });
  }
  return found;
}

const perlCalls = (text: string): readonly Call[] =>
  findPerlAssertions(text).map(({ name, from, args, title }) => ({
    name,
    position: from,
    before: "",
    args: args.filter((one) => one !== title),
    textOf: (span) => text.slice(span.from, span.to).trim(),
    isStatement: true,
  }));

const argsCharsMax = 4_000;

/** The arguments of a call; null if it does not close. */
export function parseArguments(code: string, open: number): { readonly args: readonly Span[]; readonly close: number } | null {
  const close = closingBracket(code.slice(0, open + argsCharsMax), open);
  if (close === null) return null;
  const args: Span[] = [];
  let [depth, from] = [0, open + 1];
  for (let index = open + 1; index < close - 1; index += 1) {
    const letter = code[index] ?? "";
    if ("([{".includes(letter)) depth += 1;
    if (")]}".includes(letter)) depth -= 1;
    if (letter !== "," || depth !== 0) continue;
    args.push({ from, to: index });
    from = index + 1;
  }
  if (code.slice(from, close - 1).trim() !== "") args.push({ from, to: close - 1 });
  return { args: args.map((one) => trimSpan(code, one)), close };
}

function trimSpan(code: string, { from, to }: Span): Span {
  const inner = code.slice(from, to);
  return { from: from + inner.length - inner.trimStart().length, to: to - (inner.length - inner.trimEnd().length) };
}

/** `assert EXPRESSION, message`: what follows its only comparison, else all of it. */
function pythonAsserts(code: string, text: string, nonce: string): readonly Assertion[] {
  return [...code.matchAll(/(?<=^[ \t]*(?:def\b[^\n]*:[ \t]*)?)assert\b(?!\s*=)/gm)]
    .slice(0, callsMax)
    .flatMap(({ 0: open, index }): readonly Assertion[] => {
      const from = index + open.length;
      const { end, comma, equals, hasOthers } = parseStatement(code, from);
      const said = trimSpan(code, { from, to: comma ?? end });
      if (said.to <= said.from) return [];
      const [only] = equals;
      if (equals.length === 1 && only !== undefined && !hasOthers) {
        const [actual, value] = [trimSpan(code, { from: said.from, to: only }), trimSpan(code, { from: only + 2, to: said.to })];
        return [
          {
            values: [value, actual],
            fallback: { ...value, text: `"${nonce}"` },
            isExact: !/\bapprox\b|\bclose/.test(text.slice(said.from, said.to)),
          },
        ];
      }
      return [{ truth: said, fallback: { ...said, text: `not (${text.slice(said.from, said.to)})` } }];
    });
}

function parseStatement(code: string, from: number) {
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

/** `if got != want {`: negated. Comparisons with nil come last. */
function goComparisons(code: string): readonly Assertion[] {
  return [...code.matchAll(/^[ \t]*if\b([^\n{]*)\{/gm)].slice(0, callsMax).flatMap(({ 0: open, index }): readonly Assertion[] => {
    if (/&&|\|\|/.test(open)) return [];
    const signs = [...open.matchAll(/[!=]=(?!=)/g)];
    const [sign] = signs;
    const score = /\bnil\b/.test(open) ? 1 : assertionScore;
    if (signs.length === 1 && sign !== undefined) {
      const from = index + sign.index;
      const value = trimSpan(code, { from: from + 2, to: index + open.length - 1 });
      const otherwise = { from, to: from + 2, text: sign[0] === "!=" ? "==" : "!=" };
      return [{ ...(sign[0] === "!=" && score > 1 ? { values: [value], isExact: true } : {}), fallback: otherwise, score }];
    }
    const not = /(?:\bif|;)\s*(!)\s*[\w(]/.exec(open);
    if (signs.length > 0 || not === null) return [];
    const at = index + not.index + not[0].indexOf("!");
    return [{ fallback: { from: at, to: at + 1, text: "" }, score }];
  });
}
