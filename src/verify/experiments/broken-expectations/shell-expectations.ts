// shell-expectations: finds and changes expectations in shell tests: the expected argument of a
// helper (`check 'Hello World' hello-world`, `check "april" 30 "$(days 4)"`), and files that a script
// compares with a program's output. Which argument is the expected one follows from the helper's
// body. Pure.
//
// Invariants:
//   H1. An argument is an expectation only if the helper compares that very parameter, or a
//       variable equal to it, with something that is not a parameter: a result; or with another
//       parameter, for which the call gives something that is computed.

import { join, dirname } from "node:path/posix";
import { createDraw, toOtherLiteral } from "./near-values.ts";

/** A word of a command line, in quotes or without; it may hold commands, `"$(days 4)"`. */
const command = String.raw`\$\((?:[^()]|\([^()]*\))*\)`;
const word = new RegExp(
  String.raw`'[^']*'|"(?:${command}|[^"\\]|\\.)*"|(?:${command}|[^\s'"\\;|&<>()])+`,
  "g",
);
const plainWord = /^(?:'[^']*'|"[^"$`\\]*"|[^\s'"$`\\;|&<>()]+)$/;
/** `check() {`, `function check() {`. */
const functionStart = /^[ \t]*(?:function[ \t]+)?([A-Za-z_][\w-]*)[ \t]*\(\)[ \t]*\{/gm;

/** The parameters, from 1, of which each call of a helper gives one expectation. */
export type ComparedParameters = readonly [number] | readonly [number, number];

/** Names of helpers with the parameters that each compares. */
export function findComparingFunctions(text: string): ReadonlyMap<string, ComparedParameters> {
  const found = new Map<string, ComparedParameters>();
  for (const { 0: open, 1: name = "", index } of text.matchAll(functionStart)) {
    const from = index + open.length;
    const end = /^\}/m.exec(text.slice(from))?.index ?? text.slice(from).search(/\}[ \t]*$/m);
    const parameters = end === -1 ? null : findComparedParameters(text.slice(from, from + end));
    if (parameters !== null) found.set(name, parameters);
  }

  return found;
}

function findComparedParameters(body: string): ComparedParameters | null {
  const comparison = /(?:\[\[?|\btest)\s+(\S+)\s+(?:==?|!=|-eq|-ne)\s+(\S+)/g;
  for (const [, left = "", right = ""] of body.matchAll(comparison)) {
    const leftParameter = parseParameter(left, body);
    const rightParameter = parseParameter(right, body);

    if (leftParameter !== null && rightParameter !== null) return [leftParameter, rightParameter];
    if (leftParameter !== null && right.includes("$")) return [leftParameter];
    if (rightParameter !== null && left.includes("$")) return [rightParameter]; // H1
  }

  return null;
}

/**
 * The number of the parameter that one side of a comparison is: `$2`, or a variable that is set to
 * it once. Null if it is none.
 */
function parseParameter(side: string, body: string): number | null {
  const name = /^"?\$\{?(\w+)\}?"?;?$/.exec(side)?.[1];
  if (name === undefined) return null;
  if (/^[1-9]$/.test(name)) return Number(name);
  const values = [...body.matchAll(new RegExp(`(?:^|[\\s;])${name}=(\\S+)`, "g"))].map(
    ([, value = ""]) => value,
  );
  const [only] = values;
  const parameter =
    values.length === 1 ? /^"?\$\{?([1-9])\}?"?;?$/.exec(only ?? "")?.[1] : undefined;

  return parameter === undefined ? null : Number(parameter);
}

/** A line that calls such a helper, with another expectation; null if it doesn't. */
export function flipHelperCall(
  line: string,
  helpers: ReadonlyMap<string, ComparedParameters>,
): string | null {
  const name = /^[ \t]*([A-Za-z_][\w-]*)[ \t]/.exec(line)?.[1] ?? "";
  const parameters = helpers.get(name);
  if (parameters === undefined || /\(\)/.test(line)) return null;
  const words = [...line.matchAll(word)].map(({ 0: text, index }) => ({ text, index }));
  const expectation = findExpectation(words, parameters);
  if (expectation === null) return null;
  const { text, index } = expectation;

  return line.slice(0, index) + changeWord(text, line) + line.slice(index + text.length);
}

type Word = { readonly text: string; readonly index: number };

/** The plain word among the arguments that are compared; null if it can't be told. */
function findExpectation(words: readonly Word[], parameters: ComparedParameters): Word | null {
  const isPlain = ({ text }: Word): boolean => plainWord.test(text);
  const compared = parameters.flatMap((parameter) => words[parameter] ?? []);
  const plain = compared.filter(isPlain);
  if (compared.length !== parameters.length || plain.length !== 1) return null;
  if (parameters.length === 1 && !words.every(isPlain)) return null; // the result is made in the helper

  return plain[0] ?? null;
}

/** Another word of the same kind; one without quotes stays without. */
function changeWord(original: string, line: string): string {
  const isBare = !/^['"]/.test(original);
  const literal = isBare && !/^\d+$/.test(original) ? `"${original}"` : original;
  const changed = toOtherLiteral(literal, createDraw(line), true, line);

  return isBare ? changed.replaceAll('"', "") : changed;
}

/**
 * Files that a script compares with something, or reads case by case (`done < cases.txt`), by the
 * paths they may have.
 */
export function findComparedFiles(path: string, text: string): readonly string[] {
  const compared = [
    ...text.matchAll(/(?:^|[\s;&|!(])(?:diff|cmp)((?:[ \t]+-\S+)*)[ \t]+(\S+)[ \t]+(\S+)/gm),
  ].flatMap(({ 2: first = "", 3: second = "" }) => [first, second]);

  const readByLine = [...text.matchAll(/\bdone[ \t]*<[ \t]*(\S+)/g)].map(
    ([, operand = ""]) => operand,
  );
  return [...compared, ...readByLine]
    .map((operand) => operand.replaceAll(/["']/g, ""))
    .filter((operand) => /^[\w./-]+$/.test(operand) && /\w/.test(operand))
    .flatMap((operand) => [join(dirname(path), operand), join(operand)]);
}

const dataScore = 4;
const dataLineCharsMax = 500;

/**
 * A line of such a file, with one letter or digit changed, in its last column if it has several:
 * what is expected is behind what is asked.
 */
export function flipDataFile(path: string, text: string) {
  const lines = text.split("\n");
  const index = lines.findLastIndex(
    (line) => /[A-Za-z0-9]/.test(line) && !/["'\\]/.test(line) && line.length < dataLineCharsMax,
  );
  const was = lines[index] ?? "";
  if (index === -1 || lines.indexOf(was) !== lines.lastIndexOf(was)) return null;
  const column = (/.*[|\t;,](?=[^|\t;,]*[A-Za-z0-9])/.exec(was)?.[0] ?? "").length;

  return {
    path,
    line: index + 1,
    was,
    broken:
      was.slice(0, column) +
      toOtherLiteral(`"${was.slice(column)}"`, createDraw(`${path} ${was}`), true).slice(1, -1),
    score: dataScore,
  };
}
