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
import { findClosingBracket } from "../source/brackets.ts";
import { type Assertion, assertionScore, type Span } from "./assertion-rules.ts";
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
      const { from, to } = condition;
      const conditionText = text.slice(from, to);
      if (isMainCondition.test(conditionText)) return [];
      if (conditionText.includes("\n") || /^(?:let|case)\b/.test(conditionText)) return [];

      const negation = {
        from,
        to,
        text: language === "py" ? `not (${conditionText})` : `!(${conditionText})`,
      };

      const hasOther = /&&|\band\b|\?/.test(code.slice(from, to)); // Q2
      const values = hasOther
        ? []
        : splitTerms(code, { from, to }).flatMap((term) => findExpected(code, text, term) ?? []);
      if (values.length === 0) {
        return [{ fallback: negation, score: aboutNothing.test(conditionText) ? 1 : negatedScore }];
      }

      return values.map((value, position) => ({
        values: [value],
        isExact: true,
        score: assertionScore,
        fallback: position === 0 ? negation : null,
      }));
    });
}

type Condition = Span & { /** Where the branch begins. */ readonly end: number };

function findCondition(code: string, position: number, language: Language): Condition | null {
  if (language === "js" || language === "java") {
    const open = position + (/^\s*/.exec(code.slice(position, position + 20))?.[0].length ?? 0);
    const close =
      code[open] === "(" ? findClosingBracket(code.slice(0, open + conditionCharsMax), open) : null;
    return close === null ? null : { ...trim(code, { from: open + 1, to: close - 1 }), end: close };
  }

  const last = language === "py" ? ":" : "{";
  let [depth, from] = [0, position];

  for (
    let index = position;
    index < Math.min(code.length, position + conditionCharsMax);
    index += 1
  ) {
    const letter = code[index] ?? "";
    if (depth === 0 && letter === last) return { ...trim(code, { from, to: index }), end: index };
    if ("([{".includes(letter)) depth += 1;
    if (")]}".includes(letter)) depth -= 1;
    if (depth < 0) return null;
    if (depth === 0 && letter === "\n") return null;
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
    const indent = /^[ \t]*/.exec(code.slice(code.lastIndexOf("\n", end) + 1))?.[0] ?? "";
    const [first = "", ...lines] = rest.split("\n");
    const outside = lines.findIndex(
      (line) =>
        line.trim() !== "" && !(line.startsWith(indent) && /^\s/.test(line.slice(indent.length))),
    );

    return [first, ...(outside === -1 ? lines : lines.slice(0, outside))].join("\n");
  }

  const open = /^\s*\{/.exec(rest)?.[0].length;
  if (open === undefined) return /^[^;]*;?/.exec(rest)?.[0] ?? "";
  return rest.slice(0, findClosingBracket(rest, open - 1) ?? rest.length);
}

/** What `||` joins, outside brackets. */
function splitTerms(code: string, { from, to }: Span): readonly Span[] {
  const terms: Span[] = [];
  let [depth, start] = [0, from];

  for (let index = from; index < to; index += 1) {
    const letter = code[index] ?? "";
    if ("([{".includes(letter)) depth += 1;
    if (")]}".includes(letter)) depth -= 1;
    const or = depth === 0 ? /^(?:\|\||\bor\b)/.exec(code.slice(index, index + 3))?.[0] : undefined;
    if (or === undefined || (or === "or" && /\w/.test(code[index - 1] ?? ""))) continue;
    terms.push(trim(code, { from: start, to: index }));
    start = index + or.length;
  }

  return [...terms, trim(code, { from: start, to })];
}

/**
 * The functions that compare texts and are true if they differ: a list. Of those with a length only
 * what they look at is compared.
 */
const comparingCall = /^(?:std::)?(strcmp|strncmp|memcmp|wcscmp)\s*\(|^!\s*[^\s=<>|]*\.equals\s*\(/;

/** The written-out value that a term compares with. */
function findExpected(code: string, text: string, term: Span): Span | null {
  const termCode = code.slice(term.from, term.to);
  const operators = [...termCode.matchAll(/!==?|===?|[<>]=?/g)];
  const call = comparingCall.exec(termCode);
  if (call !== null) {
    if (operators.length > 0 && !/^[^!=<>]*\)\s*!=\s*0$/.test(termCode)) return null;
    const literal = [...termCode.matchAll(/"[^"]*"/g)].at(-1);
    if (literal === undefined) return null;
    const length = /,\s*(\d+)\s*\)/.exec(termCode.slice(literal.index))?.[1];
    if (/strncmp|memcmp/.test(call[1] ?? "") && Number(length ?? 0) < literal[0].length - 2) {
      return null;
    }

    return { from: term.from + literal.index, to: term.from + literal.index + literal[0].length };
  }

  const [operator] = operators;
  if (operators.length !== 1 || operator === undefined || !operator[0].startsWith("!=")) {
    return null;
  }

  const right = trim(code, { from: term.from + operator.index + operator[0].length, to: term.to });
  const left = trim(code, { from: term.from, to: term.from + operator.index });
  return [right, left].find(({ from, to }) => isWrittenOut(text.slice(from, to))) ?? null;
}

function trim(code: string, { from, to }: Span): Span {
  const inner = code.slice(from, to);
  return {
    from: from + inner.length - inner.trimStart().length,
    to: to - (inner.length - inner.trimEnd().length),
  };
}
