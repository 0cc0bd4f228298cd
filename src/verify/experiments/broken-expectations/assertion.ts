// assertion: what an assertion of a test is, as the rules of each language find it
// (assertion-rules.ts), and the parts that those rules are built from. Pure.

import type { Span } from "../source-text/brackets.ts";
import { type Tolerance, parseTolerance } from "./tolerances.ts";

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
export type Rule = (call: Call, nonce: string) => Assertion | readonly Assertion[] | null;

/** More than a literal near an assertion has (flip.ts). */
export const assertionScore = 4;
/** For a call that only may be an assertion. */
export const statementScore = 3;
/** A value of another kind is weaker evidence than one of the same kind. */
export const otherKindPenalty = 0.2;

export const replaced = (span: Span | undefined, text: string): Change | null =>
  span === undefined ? null : { ...span, text };
export const renamed = ({ name, position }: Call, to: string | undefined): Change | null =>
  to === undefined ? null : { from: position, to: position + name.length, text: to };
export const bothWays = (pairs: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(pairs).flatMap(([name, opposite]) => [
      [name, opposite] as const,
      [opposite, name] as const,
    ]),
  );
export const negated = (change: Change | null): Assertion | null =>
  change === null ? null : { fallback: change };
/** Two compared values, the expected one first; null without one. `otherwise`: the fallback. */
export const comparison = (
  expected: Span | undefined,
  actual: Span | undefined,
  otherwise: Change | null,
  isExact = true,
): Assertion | null =>
  expected === undefined ? null : { values: [expected, actual], fallback: otherwise, isExact };
export const withTolerance = (
  assertion: Assertion | null,
  amount: Tolerance | null,
): Assertion | null =>
  assertion === null || amount === null
    ? assertion
    : { ...assertion, isExact: false, tolerance: amount };
/**
 * `isTrue`: whether the expression must be true; if it must be false, only the negation makes the
 * assertion wrong.
 */
export const truthAssertion = (truth: Span, otherwise: string, isTrue = true): Assertion => ({
  ...(isTrue ? { truth } : {}),
  fallback: { ...truth, text: otherwise },
});

/**
 * A call that is a whole statement may be a helper that asserts: the literal after the first
 * argument, or the last argument that is neither a message nor a function.
 */
export const guessFromArguments = (call: Call): readonly Assertion[] => {
  const { isStatement, args, textOf } = call;
  if (!isStatement || args.length < 2 || isPrinting(call)) return [];
  const others = args.slice(1).filter((span) => !functionExpression.test(textOf(span)));
  const [first] = args;
  const isTitled = first !== undefined && /^[fbru]?["'`]/.test(textOf(first));
  if (isTitled && others.length === 1 && others.every((span) => bareName.test(textOf(span)))) {
    return [];
  }

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
/** Whether it says something to a reader and asserts nothing. By names. */
const isPrinting = ({ name, before }: Pick<Call, "name" | "before">): boolean =>
  /^(?:print\w*|f?printf|puts|echo|e?print(?:ln)?!)$/.test(name) ||
  /\b(?:console|log|logger|logging|fmt|out|err|stdout|stderr)\.\s*$/.test(before);
const bareName = /^[A-Za-z_$][\w$.]*$/;
/** What is run, not expected: `t("adds", () => …)`. */
const functionExpression =
  /^(?:(?:async\s*)?(?:function\b|\([^()]*\)\s*(?::[^=]+)?=>|[\w$]+\s*=>)|lambda\b|func\s*\(|(?:move\s*)?\|)/;
export const plainLiteral = /^(?:-?\d[\w.]*|"[^"]*"|'[^']*'|true|false|True|False)$/;

/** As text of one line: an argument that is put elsewhere adds no line. */
export const toOneLine = (text: string): string => text.replaceAll("\n", " ");

/** Names of functions that assert nothing by themselves. */
export const otherFunction =
  /^(?:if|for|while|switch|catch|return|test|it|describe|suite|context|specify|before\w*|after\w*|each|forEach|map|push|set|then|log|write\w*|mock\w*|spyOn|setTimeout|require|print)$/;

export const readTolerance = ({ name, args, textOf }: Call): Tolerance | null =>
  parseTolerance(name, args.map(textOf));
