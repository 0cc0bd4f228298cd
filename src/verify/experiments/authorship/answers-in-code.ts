// answers-in-code: finds answers that tests expect, written in the new code beside the inputs those
// tests use. Such code may answer nothing else. A table can be just what was asked for, so this is
// a gap for a person to review, never a refusal. Pure.
//
// Invariants:
//   W1. An entry of a table counts only if one line of a test holds both its input and its answer.
//   W2. At least two such entries, and more than half of all entries in the new code: a table that
//       knows more than the tests was not copied from them.
//   W3. An answer that the goal names was asked for; a short one stands there by chance, unless its
//       input does too.
//   W4. An answer stands alone: a number in a formula (`return $c * 9 / 5 + 32 if $unit eq "F"`) is
//       none.
//   W5. Two lists of one length are such a table too, with inputs or their beginnings in one and
//       answers in the other.

import { findParallelEntries } from "./parallel-lists.ts";

export type NewCode = { readonly path: string; readonly was: string | null; readonly is: string };
export type AnswersInCode = {
  readonly path: string;
  readonly entries: readonly (readonly [input: string, answer: string])[];
};

const textCharsMax = 400_000;
const literalsOfALineMax = 12;
const entriesMin = 2;
const answerCharsMin = 3;
const literal =
  /"(?:[^"\\\n]|\\.){1,200}"|'(?:[^'\\\n]|\\.){1,200}'|`[^`\\\n$]{1,200}`|(?<![\w.$])-?\d[\d_]*(?:\.\d+)?(?![\w.])/g;
/** `case 4: return "IV"`, `4: "IV"`, `4 => "IV"`, `(4, "IV")`, `x == 4 … return "IV"`. */
const entry = new RegExp(
  String.raw`(?<before>(?:\bcase|==|!=|[=({[,?]|\beq|^|\n|\bwhen)\s*)(?<input>${literal.source})(?<between>\s*(?:=>|->|:|,)\s*(?:return\s+)?|[^\n"'\`]{0,40}?(?:\n\s*)?(?:return|=>|\?|=)\s*\(?)(?<answer>${literal.source})`,
  "g",
);
/**
 * `return 30 if $m == 4;`, `29 if y == 2024 else 28`: the answer first, and nothing else in the
 * condition.
 */
const lateCondition = new RegExp(
  String.raw`(?<answer>${literal.source})\s+if\s+\(?(?:(?!\b(?:and|or)\b)[^\n;&|"'\`]){0,40}?(?:===?|\beq\b)\s*(?<input>${literal.source})\)?(?=\s*(?:[;)\]\n,]|$|\belse\b))`,
  "g",
);
const trivial: ReadonlySet<string> = new Set(["0", "1", "-1", "true", "false"]);

export function findAnswersInCode(
  sources: readonly NewCode[],
  tests: readonly string[],
  goal: string,
): readonly AnswersInCode[] {
  const readTests = tests.filter((text) => text.length <= textCharsMax);
  const lines = readTests.flatMap((text) => text.split("\n"));
  const expectedPairs = new Set(lines.flatMap(listPairs));

  const valuesOfLines = lines.map(listValues).filter(({ length }) => length > 1);
  const isNoAnswer = ([input, answer]: Entry): boolean => input === answer || trivial.has(answer);
  const isUnnamed = ([input, answer]: Entry): boolean =>
    !goal.includes(answer) || (answer.length < answerCharsMin && !goal.includes(input)); // W3

  return sources.flatMap(({ path, was, is }) => {
    const text = readAddedText(was ?? "", is);
    const entries = findEntries(text);
    const copiedEntries = entries.filter(([input, answer]) =>
      expectedPairs.has(pairKey(input, answer)),
    ); // W1
    const parallel = findParallelEntries(text, valuesOfLines, { literal, parse: parseLiteral });
    const tables = [{ all: entries, copied: copiedEntries }, ...parallel].map(
      ({ all, copied }) => ({
        all: all.filter((pair) => !isNoAnswer(pair)),
        copied: copied.filter((pair) => !isNoAnswer(pair)).filter(isUnnamed),
      }),
    );

    const table = tables.find(
      ({ all, copied }) => copied.length >= entriesMin && 2 * copied.length > all.length,
    ); // W2
    return table === undefined ? [] : [{ path, entries: table.copied }];
  });
}

type Entry = readonly [input: string, answer: string];

/** `"heinzclassen"` in the code may be what `"Heinz Classen"` of a test becomes. */
const toPlain = (input: string): string =>
  /\p{L}/u.test(input) ? input.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "") : input;
const pairKey = (input: string, answer: string): string => `${toPlain(input)}\u0000${answer}`;
const parseLiteral = (written: string): string =>
  /^["'`]/.test(written) ? written.slice(1, -1) : written.replaceAll("_", "");

/** Both ways round: some assertions name the expected value first. */
function listPairs(line: string): readonly string[] {
  const values = listValues(line);
  return values.flatMap((value) => {
    const others = values.filter((otherValue) => otherValue !== value);
    return others.map((otherValue) => pairKey(value, otherValue));
  });
}

function listValues(line: string): readonly string[] {
  const literals = (line.match(literal) ?? []).slice(0, literalsOfALineMax);
  return [...new Set(literals.map(parseLiteral))];
}

function findEntries(text: string): readonly (readonly [string, string])[] {
  const isRange = ({ groups }: RegExpMatchArray): boolean =>
    /^\s*\.\./.test(groups?.["between"] ?? ""); // `'a'..='z'`
  const found = [...text.matchAll(entry), ...text.matchAll(lateCondition)];
  const entries = found
    .filter((match) => !isRange(match) && !isOperand(text, match))
    .map(
      ({ groups }) =>
        [parseLiteral(groups?.["input"] ?? ""), parseLiteral(groups?.["answer"] ?? "")] as const,
    );
  const distinct = new Map(entries.map((pair) => [pairKey(...pair), pair]));
  return [...distinct.values()];
}

/**
 * Whether the answer is part of a formula with something that is not written out (`c * 9 / 5 +
 * 32`): that is no answer (W4).
 */
function isOperand(text: string, { 0: all, index = 0, groups }: RegExpMatchArray): boolean {
  const answer = groups?.["answer"] ?? "";
  const isAnswerFirst = groups?.["before"] === undefined;
  const from = index + (isAnswerFirst ? 0 : all.length - answer.length);
  const before = formulaBefore.exec(text.slice(Math.max(0, from - formulaCharsMax), from))?.[1];
  const to = from + answer.length;
  const after = formulaAfter.exec(text.slice(to, to + formulaCharsMax))?.[0];

  return [before, after].some((part) => variable.test(part?.replaceAll("return", "") ?? ""));
}

const formulaCharsMax = 200;
const operator = String.raw`(?:[-+*/%^]|<<|>>|\s[.]\s)`;
/** From the beginning of an expression up to an operator. */
const formulaBefore = new RegExp(
  String.raw`(?:^|\breturn\b|[=?:;,\n{}]|=>)([^=?:;,\n{}"'\`]*[\w)\]]\s*${operator}\s*)$`,
);
const formulaAfter = new RegExp(
  String.raw`^\s*${operator}(?:(?!\b(?:if|else|unless)\b)[^;,\n{}:?"'\`])+`,
);
const variable = /[A-Za-z_$]/;

/** The new lines of a file, without comments. */
function readAddedText(was: string, is: string): string {
  if (is.length > textCharsMax) return "";
  const before = new Set(was.split("\n"));
  return is
    .split("\n")
    .filter((line) => !before.has(line) && !/^\s*(?:\/\/|\/?\*|#(?!\[))/.test(line))
    .join("\n");
}

const shownMax = 2;

export function describeAnswersInCode(findings: readonly AnswersInCode[]): string {
  const entries = findings.flatMap(({ entries: copied }) => copied);
  const examples = entries.slice(0, shownMax).map(([input, answer]) => `${input}: ${answer}`);
  const paths = findings.map(({ path }) => path).join(", ");

  return `${entries.length} answers that tests expect are written in ${paths} beside their inputs (${examples.join(", ")}); other inputs were not shown to work`;
}
