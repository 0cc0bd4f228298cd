// assertion-changes: what in an assertion is changed so that it is wrong: its expected value becomes
// another of the same kind if possible, or it is made wrong in another way. Pure.
// Invariants X1 and on: verify/experiments/broken-expectations/assertion-flips.ts.

import { detectLanguage } from "../../protected/kinds.ts";
import type { Span } from "../source-text/brackets.ts";
import { type Assertion, assertionScore, type Change, otherKindPenalty } from "./assertion.ts";
import { toNearCondition } from "./near-conditions.ts";
import {
  changeAtRunTime,
  createDraw,
  type Draw,
  isWrittenOut,
  toFarValue,
  toNearValue,
} from "./near-values.ts";
import {
  findApprox,
  moveBeyondTolerance,
  moveBeyondToleranceAtRunTime,
  type Tolerance,
} from "./tolerances.ts";

export type ScoredChange = Change & { readonly score: number };

type Source = {
  readonly text: string;
  /** The language in which a changed value can be computed at run time; null if it can't. */
  readonly language: "js" | "ts" | "py" | null;
  readonly nonce: string;
  readonly draw: Draw;
};

/** At most one change to a value of the same kind, and one to another kind (`fallback`, X4). */
export function createAssertionChanges(
  assertion: Assertion,
  path: string,
  text: string,
  nonce: string,
): readonly ScoredChange[] {
  const { fallback, score = assertionScore } = assertion;
  const draw = createDraw(`${nonce} ${path} ${findPosition(assertion)}`);
  const source = { text, language: findRunTimeLanguage(path), nonce, draw };
  const change = changeToSameKind(assertion, source);

  const changes = change === null ? [] : [{ ...change, score }];
  if (!fallback) return changes;
  const fallbackScore = change === null ? score : score - otherKindPenalty;
  return [...changes, { ...fallback, score: fallbackScore }];
}

const findPosition = ({ values, truth, searched, literal }: Assertion): number | undefined =>
  values?.[0]?.from ?? truth?.from ?? searched?.from ?? literal?.from;

function findRunTimeLanguage(path: string): Source["language"] {
  if (/\.[cm]?tsx?$/.test(path)) return "ts";
  const language = detectLanguage(path);
  return language === "js" || language === "py" ? language : null;
}

function changeToSameKind(assertion: Assertion, source: Source): Change | null {
  return (
    changeBeyondTolerance(assertion, source) ??
    changeExpectedValue(assertion, source) ??
    changeOtherPart(assertion, source) ??
    changeExpectedAtRunTime(assertion, source)
  );
}

/** The expected value moved out of the tolerance that the assertion, or the value itself, has. */
function changeBeyondTolerance(
  { values = [], literal, tolerance }: Assertion,
  source: Source,
): Change | null {
  const expected = values[0] ?? literal;
  if (expected === undefined) return null;
  const change = tolerance ? moveBeyond(expected, tolerance, source) : null;
  if (change !== null) return change;

  const approx = findApprox(source.text.slice(expected.from, expected.to));
  if (approx === null) return null;
  const span = { from: expected.from + approx.from, to: expected.from + approx.to };
  return moveBeyond(span, approx.tolerance, source);
}

function moveBeyond(
  span: Span,
  tolerance: Tolerance,
  { text, language, nonce }: Source,
): Change | null {
  const value = text.slice(span.from, span.to);
  const moved = moveBeyondTolerance(value, tolerance);
  if (moved !== null || language === null) return toChange(span, moved);
  return toChange(span, moveBeyondToleranceAtRunTime(value, language, tolerance, nonce));
}

/** The expected value of a comparison, or its other side if that is written out (X5). */
function changeExpectedValue(
  { values = [], isExact = false }: Assertion,
  { text, draw }: Source,
): Change | null {
  for (const [index, span] of values.entries()) {
    if (span === undefined) continue;
    const value = text.slice(span.from, span.to);
    if (index > 0 && !isWrittenOut(value)) continue;
    const line = text.slice(
      text.lastIndexOf("\n", span.from - 1) + 1,
      `${text}\n`.indexOf("\n", span.to),
    );

    const change = toChange(span, toNearValue(value, draw, isExact, line));
    if (change !== null) return change;
  }

  return null;
}

/** What an assertion looks for in something larger, or the condition that it needs to be true. */
function changeOtherPart(
  { literal, searched, truth }: Assertion,
  { text, draw }: Source,
): Change | null {
  const textOf = ({ from, to }: Span): string => text.slice(from, to);
  return (
    (literal && toChange(literal, toNearValue(textOf(literal), draw))) ??
    (searched && toChange(searched, toFarValue(textOf(searched), draw))) ??
    (truth && toChange(truth, toNearCondition(textOf(truth), draw))) ??
    null
  );
}

/** The expected value of a comparison becomes an expression that computes another one from it. */
function changeExpectedAtRunTime(
  { values = [], isExact = false }: Assertion,
  { text, language, nonce }: Source,
): Change | null {
  const [first, other] = values;
  const isOtherWrittenOut = other !== undefined && isWrittenOut(text.slice(other.from, other.to));
  const span = first ?? (isOtherWrittenOut ? other : undefined);
  if (span === undefined || language === null) return null;
  const value = text.slice(span.from, span.to);
  return toChange(span, changeAtRunTime(value, language, nonce, isExact));
}

const toChange = (span: Span, text: string | null): Change | null =>
  text === null ? null : { ...span, text };
