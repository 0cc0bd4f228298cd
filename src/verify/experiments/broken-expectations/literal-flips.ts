// literal-flips: makes expectations in a test file wrong by changing one literal. Pure.
//
// Invariants:
//   F1. There is no parser: a literal near an assertion word is a candidate. Whether changing it
//       fails a test is decided by running it.
//   F2. A flip keeps the literal's kind, and a number stays close: a typed language still compiles
//       it.
//   F3. Bounded in lines and characters per file; one candidate per line.

import {
  comparesValues,
  rateLines,
  shellCall,
  shellCompared,
  shellComparison,
  shellFile,
} from "./expectation-lines.ts";
import type { Flip } from "./flip.ts";
import { createDraw, negateBoolean, toOtherLiteral } from "./near-values.ts";
import { negateShellConditions } from "./shell-conditions.ts";
import { flipHelperCall, findComparingFunctions } from "./shell-expectations.ts";

const linesMax = 20_000;
/** As high as what is directly beside an assertion. */
const conditionScore = 3;
export const expectedLiteral =
  /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\$\n]|\\.)*`|\b(?:true|false|True|False)\b|(?<![\w.$#]|\d[eE][-+]?)-?\d{1,12}(?:\.\d{1,12})?(?![\w.])/g;

/** The candidates of a file, in the order of its lines. */
export function createLiteralFlips(path: string, text: string): readonly Flip[] {
  const isShell = shellFile.test(path);
  const helpers = findComparingFunctions(isShell ? text : "");
  const lines = text.split("\n").slice(0, linesMax); // F3

  const flips = rateLines(path, lines, helpers).flatMap((score, index) => {
    const was = lines[index] ?? "";
    if (score === null) return [];

    const broken = flipHelperCall(was, helpers) ?? (isShell ? flipShellLine(was) : flipLine(was));
    return broken === null ? [] : [{ path, line: index + 1, was, broken, score }];
  });
  if (!isShell || flips.some(({ score }) => score >= conditionScore)) return flips;

  const conditions = [...negateShellConditions(lines)].map(([index, broken]) => ({
    path,
    line: index + 1,
    was: lines[index] ?? "",
    broken,
    score: conditionScore,
  }));
  return [
    ...conditions,
    ...flips.filter(({ line }) => conditions.every((one) => one.line !== line)),
  ];
}

function flipShellLine(line: string): string | null {
  const call = shellCall.exec(line) ?? shellCompared.exec(line);
  if (call !== null) return flipShellCall(call);

  const hasExpansion = /[$`]/.test(line); // then its strings aren't literals
  return hasExpansion || shellComparison.test(line) ? null : flipLine(line);
}

/**
 * A helper's call or a comparison with another expectation. Of `assert_eq "aa" "$(repeat a 2)"
 * "repeats"` nobody knows which of the two texts is the expectation and which the title, so both
 * are changed.
 */
function flipShellCall([line, head = "", expected = "", tail = ""]: RegExpExecArray): string {
  const change = (literalText: string): string =>
    toOtherLiteral(literalText, createDraw(line), true, line);
  const before = firstShellArgument.exec(head);
  const changedHead =
    before === null
      ? head
      : `${before[1]}${change(before[2] ?? "")}${head.slice(before[0].length)}`;

  return `${changedHead}${change(expected)}${tail}`;
}
const firstShellArgument = /^(\s*[A-Za-z_][\w-]*\s+)(-?\d+|"[^"$`\n]*"|'[^'\n]*')(?=\s+"?\$\()/;

/** An assigned value, or an exit code, isn't an expectation, unless its name says so. */
const assignment =
  /(?:(?<![\w$])(?!(?:\w*_)?(?:want|wanted|expected|expects|output|out|result|answer)\b)[\w$]+\s*=\s*|\b(?:exit|return|abort|exitCode)\b\s*[(=]?\s*)$/i;

/** The line with its most significant literal changed; null if it has none. */
export function flipLine(line: string): string | null {
  const chosen = chooseLiteral(line, listExpectedLiterals(line));
  if (chosen === null) return null;

  const before = line.slice(0, chosen.index);
  const after = line.slice(chosen.index);
  const isLoop = /\b(?:for|while)\b/.test(line);
  const bound = isLoop ? null : /^(.*[\w$)\]]\s+)([<>]=?)(\s+)$/.exec(before);
  if (bound !== null) {
    const [, head = "", order = "", space = ""] = bound;
    return `${head}${oppositeOrder[order]}${space}${after}`;
  }

  return before + toAdjacentLiteral(chosen.text) + after.slice(chosen.text.length);
}

type Literal = { readonly text: string; readonly index: number };

/** The literals of a line but for those that are assigned, thrown, printed or names of files. */
function listExpectedLiterals(line: string): readonly Literal[] {
  if (onlyFails.test(line)) return [];
  return [...line.matchAll(expectedLiteral)]
    .map(({ 0: text, index }) => ({ text, index }))
    .filter(({ text, index }) => {
      const before = line.slice(0, index);
      const isOther =
        assignment.test(before) ||
        thrownValue.test(before) ||
        javaMessage.test(before) ||
        includedFile.test(before);
      return !isOther && !isPrinted(line, index, index + text.length);
    });
}

/**
 * What is compared exactly comes first. A string after a value is often only the failure message; a
 * lone string is the expectation.
 */
function chooseLiteral(line: string, literals: readonly Literal[]): Literal | null {
  const strings = literals.filter(({ text }) => /^["'`]/.test(text));
  const values = literals.filter((candidate) => !strings.includes(candidate));
  const isExact = ({ text, index }: Literal): boolean =>
    /[=!]==?\s*$/.test(line.slice(0, index)) || /^\s*[=!]=/.test(line.slice(index + text.length));

  const value = values.findLast(isExact) ?? values.at(-1);
  if (value !== undefined) return value;

  const [first, ...others] = strings;
  if (first !== undefined && others.length === 0 && isTitle(line, first)) return null;
  return strings.at(-1) ?? null;
}

/** A bound that moves by one often shows nothing (`ms < 60`), so the comparison is turned round. */
const oppositeOrder: Readonly<Record<string, string>> = {
  "<": ">=",
  "<=": ">",
  ">": "<=",
  ">=": "<",
};

/**
 * Before the text of an error: `throw new AssertionError("got " + a + `; not before a condition
 * (`raise "no" if a != 3`).
 */
const thrownValue = /\b(?:throw|raise)\b(?:(?!\b(?:if|unless)\b)[^;{}])*$/;

/** What is never to be reached: `assert false : "no exception";`. */
const onlyFails = /^\s*assert(?:!|\.ok|_?[tT]rue)?\s*\(?\s*[fF]alse\s*\)?\s*(?:$|[;:,])/;

/** Before the name of a file in Rust: without that file nothing is compiled. */
const includedFile = /\binclude(?:_str|_bytes)?!\s*\(\s*$/;

/** Before the message of Java's `assert a == b : "message";`. */
const javaMessage = /^\s*assert\b[^{]*\s:\s*$/;

/**
 * A literal that is only printed, and the number of a stream (`2>/dev/null`, `>&2`), is no
 * expectation.
 */
function isPrinted(line: string, from: number, to: number): boolean {
  if (line.startsWith(">", to) || line.endsWith(">&", from)) return true;

  const call = printCall.exec(line.slice(0, from))?.[0];
  const isInPrint = call !== undefined && !comparesValues(call);
  return isInPrint && /^[^|]*(?:$|[;}])/.test(line.slice(to));
}
const printCall =
  /\b(?:System\.(?:out|err)\.\w+|console\.\w+|e?println!?|printf?|fprintf|puts|fmt\.F?[Pp]rint\w*|echo)\b[^;|&]*$/;

/**
 * The first string of a line that opens a test is the test's name; one after a boolean condition is
 * its message.
 */
function isTitle(line: string, { index }: Literal): boolean {
  const before = line.slice(0, index);
  return conditionCall.test(before) || testCall.test(before);
}

const conditionCall =
  /\b(?:ok|notOk|true|false|assert|isTrue|isFalse|assertTrue|assertFalse|truthy|falsy)\s*\(.*,\s*$/;
const testCall = /\b(?:test|it|describe|context|specify|suite|scenario|Run)\s*(?:\.\w+)*\s*\(\s*$/;

/** The other boolean, the next number, or the text with another last letter (F2). */
export function toAdjacentLiteral(text: string): string {
  const flipped = negateBoolean(text);
  if (flipped !== null) return flipped;
  const quote = text[0] ?? "";
  if (/["'`]/.test(quote)) return changeString(text, quote);
  const [whole = "0", fraction] = text.split(".");

  return `${BigInt(whole) + 1n}${fraction === undefined ? "" : `.${fraction}`}`;
}

/** The length stays, if possible: 'a' may be a character and not a string. */
function changeString(text: string, quote: string): string {
  const inner = text.slice(1, -1);
  const last = /[A-Za-z0-9](?=[^A-Za-z0-9]*$)/.exec(inner);
  if (last === null || /\\.?$/.test(inner.slice(0, last.index))) {
    return inner === "" ? `${quote}x${quote}` : `${quote}x${inner.slice(1)}${quote}`;
  }

  const step = /[zZ9]/.test(last[0]) ? -1 : 1;
  const changed = String.fromCharCode(last[0].charCodeAt(0) + step);
  return `${quote}${inner.slice(0, last.index)}${changed}${inner.slice(last.index + 1)}${quote}`;
}
