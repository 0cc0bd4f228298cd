// operands: finds the operands of logical operators in code by brackets and line ends. There is no
// parser: the code is without comments and strings (mask-text.ts). Pure.
//
// Invariants:
//   O1. A span that is found too short still is a value; one that may be too long is left out.

import { findOpeningBracket, type Span, trimSpan } from "../source-text/brackets.ts";
import type { FoundBranch, Outcome } from "./branch.ts";

/** Logical operators by where they begin. */
export type Operators = ReadonlyMap<number, string>;

export const findOperators = (code: string, pattern: RegExp): Operators =>
  new Map([...code.matchAll(pattern)].map(({ 0: word, index }) => [index, word]));

/** What comes of a logical operator's left operand if the right one is asked as well. */
const goesOn: Readonly<Record<string, Outcome>> = {
  "&&": "true",
  and: "true",
  "||": "false",
  or: "false",
  "??": "false",
};

/** The left operand of a logical operator has to let the right one be asked. */
export const toLeftOperand = (span: Span, word: string): FoundBranch => ({
  ...span,
  kind: word === "??" ? "nullish" : "condition",
  outcomes: [goesOn[word] ?? "true"],
});

/**
 * A condition as a whole, with the outcomes that are asked about, and its operands: each has to be
 * asked. If one outcome ends in an error, its operands only say when.
 */
export function splitCondition(
  code: string,
  { outcomes, ...span }: Span & Pick<FoundBranch, "outcomes">,
  operators: Operators,
): readonly FoundBranch[] {
  const whole: FoundBranch = { ...trimSpan(code, span), kind: "condition", outcomes };
  return outcomes.length < 2 ? [whole] : [whole, ...findLeftOperands(code, span, operators)];
}

/** The operands that logical operators outside of brackets have on their left. */
function findLeftOperands(code: string, span: Span, operators: Operators): readonly FoundBranch[] {
  const operands: FoundBranch[] = [];
  let [from, depth] = [span.from, 0];
  for (let index = span.from; index < span.to; index += 1) {
    if ("([{".includes(code[index] ?? "")) depth += 1;
    if (")]}".includes(code[index] ?? "")) depth -= 1;
    const word = depth === 0 ? operators.get(index) : undefined;
    if (word === undefined) continue;
    operands.push(toLeftOperand(trimSpan(code, { from, to: index }), word));
    from = index + word.length;
  }

  return operands;
}

/** How an operand of a language ends before its beginning. */
export type OperandForm = {
  /** Words that it does not begin with. */
  readonly leadingWords: ReadonlySet<string>;
  /** A sign of an operator that binds less. */
  readonly isStop: (index: number) => boolean;
  /** A line end that ends no statement. */
  readonly joins: (index: number) => boolean;
  /** A bracket that belongs to a statement's first word. */
  readonly isHead: (open: number) => boolean;
};

/** What stands before an operator; null if that can't be told (O1). */
export function findLeftOperand(
  code: string,
  to: number,
  { leadingWords, isStop, joins, isHead }: OperandForm,
): Span | null {
  let index = to - 1;
  while (index >= 0) {
    const letter = code[index] ?? "";
    if (letter === "}") return null; // a block, or an object
    if (letter === ")" || letter === "]") {
      const open = findOpeningBracket(code, index);
      if (open === null) return null;
      if (isHead(open)) break;
      index = open - 1;
      continue;
    }

    const isSpread = letter === "." && code.slice(index - 2, index) === "..";
    if ("([{,;:".includes(letter) || isSpread || isStop(index) || isAssignment(code, index)) break;
    if (letter === "\n" && !joins(index)) break;
    if (/[\w$]/.test(letter)) {
      const start = findWordStart(code, index);
      if (leadingWords.has(code.slice(start, index + 1)) && code[start - 1] !== ".") break;
      index = start;
    }

    index -= 1;
  }

  const span = trimSpan(code, { from: index + 1, to });
  return span.from < span.to ? span : null;
}

function findWordStart(code: string, end: number): number {
  let start = end;
  while (/[\w$]/.test(code[start - 1] ?? "")) start -= 1;
  return start;
}

/** `=` and `=>`, not `==`, `<=` and the like. */
function isAssignment(code: string, index: number): boolean {
  const [before = "", letter = "", after = ""] = [code[index - 1], code[index], code[index + 1]];
  if (letter === ">") return before === "=";
  if (letter !== "=") return false;
  if (after === "=" || after === "~") return false;
  if ("!<>=".includes(before) && before !== "") {
    const isShift = /(?:<<|>>)$/.test(code.slice(Math.max(0, index - 2), index));
    return isShift;
  }

  return true;
}
