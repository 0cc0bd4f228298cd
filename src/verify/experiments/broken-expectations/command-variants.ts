// command-variants: changes what a command compares with, if the command itself holds that: `[
// "$(add 1 2)" = 3 ]`, `node -e '…'`, `tool --help | grep -q -- --json`. Pure.

import { splitPipelines } from "../../protected/programs.ts";
import { expectedLiteral, toAdjacentLiteral } from "./literal-flips.ts";

/**
 * Commands that contain code, or that compare a program's output: `node -e '…'`, `[ "$(add 1 2)" =
 * 3 ]`.
 */
export const commandWithCode = /\s-(?:e|c|p|r)\s|\|\s*grep\b|\$\(|`|\[ |\btest\s.*=|--eval\b|<<</;

/**
 * The command with one of the literals changed that it compares with, for each of them; if it
 * compares with none, for each literal that names no file or module. A string with code in it has
 * its own literals. `word`: what no output contains.
 */
export function createCommandVariants(command: string, word: string): readonly string[] {
  const all = listLiteralChanges(command);
  const compared = all.filter(({ isCompared }) => isCompared).map(({ text }) => text);
  const patterns = listPatternChanges(command, word);
  if (compared.length > 0 || patterns.length > 0) return [...new Set([...compared, ...patterns])];

  return all.map(({ text }) => text);
}

type CommandChange = { readonly text: string; readonly isCompared: boolean };

/** What is before a literal that something is compared with. */
const beforeCompared = /(?:[=!]==?|[<>]=?|[^=!<>]=|-eq|-ne)\s*$/;
/** What is before the name of a module. */
const beforeModule = /(?:\bimport|\brequire|\bfrom)\s*\(?\s*$/;

/** `isCode`: it is a string of the command, in which `>` compares and does not write a file. */
function listLiteralChanges(line: string, isCode = false): readonly CommandChange[] {
  const constants = isCode ? turnConstants(line) : [];
  const literals = [...line.matchAll(expectedLiteral)].flatMap(({ 0: text, index }) => {
    const before = line.slice(0, index);
    const after = line.slice(index + text.length);
    const isCompared = beforeCompared.test(before);
    const wholeChange = { text: before + toAdjacentLiteral(text) + after, isCompared };

    const quote = text[0] ?? "";
    const isString = /["'`]/.test(quote);
    if (!isString) return [wholeChange, ...turnRound(before, text + after, isCode)];

    const innerChanges = listLiteralChanges(text.slice(1, -1), true).map((change) => ({
      text: before + quote + change.text + quote + after,
      isCompared: change.isCompared || isCompared,
    }));
    if (innerChanges.length > 0) return innerChanges;

    const isNameOfFile = beforeModule.test(before) || /^.[.\w-]*\//.test(text);
    return isNameOfFile ? [] : [wholeChange];
  });

  return [...literals, ...constants];
}

/** A comparison with nothing (`parse("x") !== null`, `is None`) is turned round. */
const turnConstants = (line: string): readonly CommandChange[] =>
  [...line.matchAll(comparedWithNothing)].map(({ 0: text, 1: operator = "", index }) => ({
    text:
      line.slice(0, index) +
      text.replace(operator, () => oppositeEquality[operator.replace(/\s+/, " ")] ?? operator) +
      line.slice(index + text.length),
    isCompared: true,
  }));

const comparedWithNothing = /([!=]==?|\bis\s+not\b|\bis\b)\s*(?:null|undefined|None)\b/g;
const oppositeEquality: Readonly<Record<string, string>> = {
  "===": "!==",
  "!==": "===",
  "==": "!=",
  "!=": "==",
  is: "is not",
  "is not": "is",
};

/** A bound that moves by one often shows nothing (`size > 0`), so the comparison is turned round. */
function turnRound(before: string, after: string, isCode: boolean): readonly CommandChange[] {
  const operator = (isCode ? orderInCode : orderInShell).exec(before);
  if (operator === null) return [];
  const [, order = "", space = ""] = operator;
  const text = before.slice(0, operator.index) + oppositeOrders[order] + space + after;
  return [{ text, isCompared: true }];
}

const orderInCode = /(?<=[\w$)\]]\s*)([<>]=?)(\s*)$/;
const orderInShell = /(?<=\s)(-(?:lt|le|gt|ge))(\s*)$/;
const oppositeOrders: Readonly<Record<string, string>> = {
  "<": ">=",
  "<=": ">",
  ">": "<=",
  ">=": "<",
  "-lt": "-ge",
  "-le": "-gt",
  "-gt": "-le",
  "-ge": "-lt",
};

/** What a pipe ends with, if that looks for a pattern. */
const search = /\|\s*[ef]?grep\b[^|]*$/;
/** Options of `grep` with a value of their own; that of the last two is the pattern. */
const valuedOption = /^-(?:[A-Za-z]*[mABC]|-(?:max-count|context|after-context|before-context))$/;
const patternOption = /^-(?:[A-Za-z]*e|-regexp)$/;
/** A word of a command line without expansions. */
const plainWord = /'[^']*'|"[^"$`\\]*"|[^\s'"$`\\;&|<>()]+/g;

/** The patterns that output is searched for, each with another letter, and as another word. */
function listPatternChanges(command: string, word: string): readonly string[] {
  return splitPipelines(command).flatMap(({ text, from }) => {
    const masked = text.replaceAll(/'[^']*'|"(?:[^"\\]|\\.)*"/g, (quoted) =>
      "x".repeat(quoted.length),
    );
    const searched = search.exec(masked);
    if (searched === null) return [];

    const at = from + searched.index;
    const pattern = findPattern(command.slice(at, from + text.length));
    if (pattern === null) return [];

    const start = at + pattern.from;
    const patternText = pattern.text;
    const quote = /^["']/.exec(patternText)?.[0] ?? "";
    const near = toAdjacentLiteral(quote === "" ? `"${patternText}"` : patternText);
    const isNegated = /^\s*!/.test(text) || /\s-[A-Za-z]*[vL]/.test(searched[0]);
    const changed = isNegated
      ? [`''`] // every line has it
      : [quote === "" ? near.slice(1, -1) : near, quote + word + quote];

    return changed.map(
      (other) => command.slice(0, start) + other + command.slice(start + patternText.length),
    );
  });
}

/** Where the pattern of a call of `grep` is. */
function findPattern(call: string): { readonly text: string; readonly from: number } | null {
  const words = [...call.matchAll(plainWord)].map(({ 0: text, index }) => ({ text, from: index }));
  const args = words.slice(1);
  let isOptionsEnd = false;

  for (const [index, { text, from }] of args.entries()) {
    const next = args[index + 1] ?? null;
    const isValue = index > 0 && valuedOption.test(args[index - 1]?.text ?? "");
    if (isValue && !isOptionsEnd) continue;
    if (isOptionsEnd || !text.startsWith("-")) return { text, from };
    if (patternOption.test(text)) return next;
    if (text === "--") isOptionsEnd = true;
  }

  return null;
}
