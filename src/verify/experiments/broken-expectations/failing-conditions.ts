// failing-conditions: finds the expectations of tests that have no word for asserting: `if (size(b)
// != 300) return 2;`. Pure.
//
// Invariants:
//   Q1. Only a condition whose branch fails counts: it returns a number that is not 0, ends the
//       program with one, throws, panics, or counts a failure. The words for that are a list: a
//       branch that fails in another way is no candidate.
//   Q2. A change makes the condition true whenever it was reached and false: a value that is
//       compared by `!=`, or by a function for texts, is another one only if nothing else has to be
//       true besides (`&&`). Otherwise the whole condition is negated.

import type { Language } from "../../protected/rows/protection-row.ts";
import {
  findClosingBracket,
  findOutsideBrackets,
  type Span,
  trimSpan,
} from "../source-text/brackets.ts";
import { type Assertion, assertionScore } from "./assertion.ts";
import { isWrittenOut } from "./near-values.ts";

const conditionsMax = 2_000;
const conditionCharsMax = 1_000;
/** How far behind a condition its branch may fail. */
const branchCharsMax = 400;
/**
 * For a condition that can only be negated; one about what is missing comes last: it is mostly
 * about the test's own surroundings.
 */
const negatedScore = 3;
const aboutNothing = /\b(?:null|nil|NULL|nullptr|None|undefined|err|errno)\b|^!\s*\w+$/;

/** Whether the file is the program: what it guards is no failure. */
const isMainCondition = /__name__|\brequire\.main\b|\bimport\.meta\b/;

const failure =
  /\breturn\s*\(?\s*(?:-?[1-9]\d*|EXIT_FAILURE)\s*\)?\s*(?:[;}\n]|$)|\b_?exit\w*\s*\((?!\s*(?:0|EXIT_SUCCESS)?\s*\))|\bExit\s*\((?!\s*0\s*\))|\babort\s*\(|\bpanic!?\s*\(|\b(?:throw|raise|die)\b|\b(?:t|b|tb)\.(?:Error|Fatal|Fail)\w*\s*\(|\bfail\w*\s*\(|\b(?:fail\w*|errors?|bad|wrong)\s*(?:\+\+|\+=)|\+\+\s*(?:fail\w*|errors?|bad|wrong)\b/;

/** `code`: the text without comments and what is in strings. */
export function findFailingConditions(
  code: string,
  text: string,
  language: Language,
): readonly Assertion[] {
  return [...code.matchAll(/(?<![\w$.])(?:if|elif)\b/g)]
    .slice(0, conditionsMax)
    .flatMap(({ 0: word, index }): readonly Assertion[] => {
      const condition = findCondition(code, index + word.length, language);
      if (condition === null || !failure.test(readBranch(code, condition.end, language))) return []; // Q1
      return createAssertions(code, text, condition, language);
    });
}

/** The ways to make a condition true that must be false: by a value, or as a whole (Q2). */
function createAssertions(
  code: string,
  text: string,
  { from, to }: Span,
  language: Language,
): readonly Assertion[] {
  const condition = text.slice(from, to);
  if (isMainCondition.test(condition)) return [];
  if (condition.includes("\n") || /^(?:let|case)\b/.test(condition)) return [];

  const negated = language === "py" ? `not (${condition})` : `!(${condition})`;
  const negation = { from, to, text: negated };

  const hasOtherConditions = /&&|\band\b|\?/.test(code.slice(from, to));
  const terms = hasOtherConditions ? [] : splitTerms(code, { from, to });
  const values = terms.flatMap((term) => findExpected(code, text, term) ?? []);
  if (values.length === 0) {
    return [{ fallback: negation, score: aboutNothing.test(condition) ? 1 : negatedScore }];
  }

  return values.map((value, position) => ({
    values: [value],
    isExact: true,
    score: assertionScore,
    fallback: position === 0 ? negation : null,
  }));
}

type Condition = Span & { /** Where the branch begins. */ readonly end: number };

/** The condition behind an `if` that ends at `position`; null if it is too long or not closed. */
const findCondition = (code: string, position: number, language: Language): Condition | null =>
  language === "js" || language === "java"
    ? findConditionInBrackets(code, position)
    : findBareCondition(code, position, language === "py" ? ":" : "{");

function findConditionInBrackets(code: string, position: number): Condition | null {
  const spaces = /^\s*/.exec(code.slice(position, position + 20))?.[0] ?? "";
  const open = position + spaces.length;
  if (code[open] !== "(") return null;
  const close = findClosingBracket(code.slice(0, open + conditionCharsMax), open);
  return close === null
    ? null
    : { ...trimSpan(code, { from: open + 1, to: close - 1 }), end: close };
}

/** Without brackets around it: up to `last`, which stands before the branch. */
function findBareCondition(code: string, position: number, last: string): Condition | null {
  const limit = Math.min(code.length, position + conditionCharsMax);
  let depth = 0;
  let from = position;

  for (let index = position; index < limit; index += 1) {
    const letter = code[index] ?? "";
    if (depth === 0 && letter === last) {
      return { ...trimSpan(code, { from, to: index }), end: index };
    }

    if ("([{".includes(letter)) depth += 1;
    if (")]}".includes(letter)) depth -= 1;
    if (depth < 0 || (depth === 0 && letter === "\n")) return null;
    if (depth === 0 && letter === ";") from = index + 1; // Go: a statement before the condition
  }

  return null;
}

/**
 * The statement or block behind a condition; of a block in Python the lines that are indented
 * further than the condition's.
 */
function readBranch(code: string, end: number, language: Language): string {
  const rest = code.slice(end, end + branchCharsMax);
  if (language === "py") {
    const [indent = ""] = /^[ \t]*/.exec(code.slice(code.lastIndexOf("\n", end) + 1)) ?? [];
    return readIndentedBlock(rest, indent);
  }

  const open = /^\s*\{/.exec(rest)?.[0].length;
  if (open === undefined) return /^[^;]*;?/.exec(rest)?.[0] ?? "";
  return rest.slice(0, findClosingBracket(rest, open - 1) ?? rest.length);
}

/** The first line, and those behind it that are indented further or empty. */
function readIndentedBlock(text: string, indent: string): string {
  const [first = "", ...lines] = text.split("\n");
  const isInside = (line: string): boolean =>
    line.trim() === "" || (line.startsWith(indent) && /^\s/.test(line.slice(indent.length)));

  const outside = lines.findIndex((line) => !isInside(line));
  const inside = outside === -1 ? lines : lines.slice(0, outside);
  return [first, ...inside].join("\n");
}

/** What `||` or `or` joins, outside brackets. */
function splitTerms(code: string, { from, to }: Span): readonly Span[] {
  const isOr = (_letter: string, index: number): boolean =>
    code.startsWith("||", index) ||
    (/^or\b/.test(code.slice(index, index + 3)) && !/\w/.test(code[index - 1] ?? ""));
  const terms: Span[] = [];

  for (let start = from; start <= to;) {
    const end = findOutsideBrackets(code, start, to, isOr);
    terms.push(trimSpan(code, { from: start, to: end }));
    start = end + "||".length;
  }

  return terms;
}

/**
 * The functions that compare texts and are true if they differ: a list. Of those with a length only
 * what they look at is compared.
 */
const comparingCall = /^(?:std::)?(strcmp|strncmp|memcmp|wcscmp)\s*\(|^!\s*[^\s=<>|]*\.equals\s*\(/;

/** The written-out value that a term compares with. */
function findExpected(code: string, text: string, term: Span): Span | null {
  const termCode = code.slice(term.from, term.to);
  const call = comparingCall.exec(termCode);
  if (call !== null) return findComparedText(termCode, term.from, call[1] ?? "");

  const operators = [...termCode.matchAll(/!==?|===?|[<>]=?/g)];
  const [operator] = operators;
  if (operators.length !== 1 || operator === undefined || !operator[0].startsWith("!=")) {
    return null;
  }

  const position = term.from + operator.index;
  const right = trimSpan(code, { from: position + operator[0].length, to: term.to });
  const left = trimSpan(code, { from: term.from, to: position });
  return [right, left].find(({ from, to }) => isWrittenOut(text.slice(from, to))) ?? null;
}

/** The last text in a call like `strcmp(name(a), "x") != 0`, if all of it is compared. */
function findComparedText(termCode: string, position: number, comparer: string): Span | null {
  const hasOperator = /[<>]|[!=]=/.test(termCode);
  if (hasOperator && !/^[^!=<>]*\)\s*!=\s*0$/.test(termCode)) return null;
  const literal = [...termCode.matchAll(/"[^"]*"/g)].at(-1);
  if (literal === undefined) return null;

  const { 0: quoted, index } = literal;
  const length = /,\s*(\d+)\s*\)/.exec(termCode.slice(index))?.[1];
  const isLengthGiven = /strncmp|memcmp/.test(comparer);
  const isPartlyCompared = isLengthGiven && Number(length ?? 0) < quoted.length - 2;
  return isPartlyCompared ? null : { from: position + index, to: position + index + quoted.length };
}
