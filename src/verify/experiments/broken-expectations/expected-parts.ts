// expected-parts: if a test expects an object of a class that the work wrote, makes one part of it
// wrong at a time: each argument of its constructor, each of its fields. An equality that the work
// wrote may compare the first part and forget the others. Objects of the tests' own classes have an
// equality of their own. Pure.

import { listSome } from "../../../kit/list-some.ts";
import { detectLanguage } from "../../protected/kinds.ts";
import { maskText } from "../../protected/mask-text.ts";
import { findClosingBracket, type Span } from "../source-text/brackets.ts";
import { createLineCounter } from "../source-text/test-cases.ts";
import { parseArguments, findAssertions, toFlip } from "./assertion-flips.ts";
import type { Flip } from "./flip.ts";
import { createDraw, literalPattern, toOtherLiteral } from "./near-values.ts";

const partsMax = 8;
const partsMin = 2;
const shownMax = 5;
const headCharsMax = 200;
/** The score of such a flip: that of an assertion with another expectation (flip.ts). */
const partScore = 4;

const typeDefinition =
  /^[ \t]*(?:export\s+(?:default\s+)?|pub(?:\([^)]*\))?\s+|abstract\s+|final\s+|data\s+)*(?:class|struct|record|type)\s+([A-Z]\w*)/gm;
/** The head of an expression that makes an object: `new Money(`, `&money.Money{`, `Money::of(`. */
const constructorHead = /^&?(?:new\s+)?(?:[\w$]+(?:\.|::))*?([A-Z]\w*)(?:(?:::|\.)\w+)?\s*([({])/;
/** Where a Go test writes out an expected object: `.Equal(Money{`, `want := Money{`. */
const goExpected =
  /(?:\.Equal\(|\bwant\w*\s*(?::=|:|=)|\bDeepEqual\([^,\n]+,)\s*(?=&?(?:\w+\.)?[A-Z]\w*\{)/g;
/** The name before a part: `amount = 5`, `amount: 5`. */
const partName = /^\w+\s*(?:=|:(?!:))\s*/;
/** A part that calls or computes something: one literal may not decide its value. */
const computes = /^(?!String::from)[A-Za-z_][\w.:]*\(|=>|\blambda\b|[?*/%<>]|\|\||&&/;

const expectsError = /\b(?:raises|assertRaises\w*|throws\w*|rejects|toThrow\w*|should_panic)\b/;

/** Types that a source defines. */
export const findDefinedTypes = (text: string): readonly string[] =>
  [...text.matchAll(typeDefinition)].map(([, name = ""]) => name);

/**
 * For each expected object of one of these classes, a flip for each of its parts, in their order.
 */
export function createPartFlips(
  path: string,
  text: string,
  classes: ReadonlySet<string>,
  nonce: string,
): readonly (readonly Flip[])[] {
  const family = detectLanguage(path);
  if (family === null || classes.size === 0) return [];
  const code = maskText(text, family);
  const lineAt = createLineCounter(text);
  const draw = createDraw(`${nonce} parts ${path}`);
  const ownClasses = new Set(findDefinedTypes(text));
  const compared = findAssertions(path, text, nonce).flatMap(({ values = [] }) => {
    const starts = values.flatMap((span) => span?.from ?? []);
    const isOwn = starts.some((at) => ownClasses.has(readConstructed(text, at)?.name ?? ""));
    return isOwn ? [] : starts.filter((at) => !isErrorExpected(text, at));
  });

  const starts = [
    ...compared,
    ...(family === "go"
      ? [...text.matchAll(goExpected)].map(({ 0: head, index }) => index + head.length)
      : []),
  ];
  return [...new Set(starts)].flatMap((start) => {
    const flips = findParts(text, code, start, classes).flatMap((span) => {
      const literal = findLiteral(text, span);
      if (literal === null) return [];
      const [from, to] = [literal.at, literal.at + literal.text.length];

      return (
        toFlip(
          path,
          text,
          { from, to, text: toOtherLiteral(literal.text, draw, true), score: partScore },
          lineAt,
        ) ?? []
      );
    });
    return flips.length < partsMin ? [] : [flips];
  });
}

/**
 * The parts of the object that is made at this position; none unless it is of one of the classes.
 */
function findParts(
  text: string,
  code: string,
  start: number,
  classes: ReadonlySet<string>,
): readonly Span[] {
  const { head, name } = readConstructed(text, start) ?? { head: "", name: "" };
  if (!classes.has(name)) return [];
  const open = start + head.length - 1;
  const parts =
    findClosingBracket(code, open) === null ? [] : (parseArguments(code, open)?.args ?? []);

  return parts.slice(0, partsMax);
}

function readConstructed(
  text: string,
  at: number,
): { readonly head: string; readonly name: string } | null {
  const [head, name = ""] = constructorHead.exec(text.slice(at, at + headCharsMax)) ?? [];
  return head === undefined ? null : { head, name };
}

/** Whether an error is expected here, on this line or the one before: then nothing is compared. */
function isErrorExpected(text: string, at: number): boolean {
  const lineStart = text.lastIndexOf("\n", at - 1) + 1;
  const from = text.lastIndexOf("\n", lineStart - 2) + 1;
  const end = text.indexOf("\n", at);
  return expectsError.test(text.slice(from, end === -1 ? text.length : end));
}

/** The first literal of a part that is made of literals only, with its position in the text. */
function findLiteral(
  text: string,
  { from, to }: Span,
): { readonly text: string; readonly at: number } | null {
  const value = text.slice(from, to).replace(partName, "");
  const [found] = value.matchAll(literalPattern);
  if (found === undefined || computes.test(value.replaceAll(literalPattern, ""))) return null;

  return { text: found[0], at: to - value.length + found.index };
}

/** What is reported about tests that pass with another part. */
export const describeUncomparedParts = (
  names: readonly string[],
  classes: readonly string[],
): string =>
  `${listSome(names, shownMax)} pass as well with another part in the ${listSome(classes, shownMax)} they expect: not all of it is compared`;
