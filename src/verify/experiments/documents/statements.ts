// statements: finds the lines of a document that say something new, and says something else in
// their place. Pure.
//
// Invariants:
//   S1. A line says something new unless it stood in the document before, or in the person's words:
//       the goal and the commands of checks. A heading or a label ("Before:") does only with a
//       number.
//   S2. What the runner has compared by itself (an output, an example's answer) says nothing more.

export type Statement = {
  readonly path: string;
  /** Its line in the document, from 0. */
  readonly index: number;
  readonly line: string;
  /** Its words, numbers and signs that can be others, in lower case. */
  readonly newWords: ReadonlySet<string>;
};

const fence = /^\s*(?:`{3,}|~{3,})/;
const heading = /^\s*(?:#|[^\s|]+(?:\s[^\s|]+){0,2}:$)/;

export type StatementSource = {
  readonly path: string;
  readonly was: string | null;
  readonly is: string;
  /** The person's words. */
  readonly given: string;
  /** Whether the runner has compared this line by itself (S2). */
  readonly isCompared: (line: string) => boolean;
};

export function findStatements(source: StatementSource): readonly Statement[] {
  const { path, was, is, given, isCompared } = source;
  const before = new Set((was ?? "").split("\n").map((line) => line.trim()));
  const givenWords = splitWords(given);
  const person = { words: new Set(givenWords), text: ` ${givenWords.join(" ")} ` };
  const known = new Set([...splitWords(was ?? ""), ...givenWords]);

  return is.split("\n").flatMap((line, index) => {
    if (fence.test(line) || before.has(line.trim()) || isCompared(line)) return [];
    const words = splitWords(line.replace(/^\s*\d+[.)]\s/, "")); // the number of a list's item is none
    if (person.text.includes(` ${words.join(" ")} `)) return [];
    if (heading.test(line) && !words.some((found) => /^\d/.test(found))) return [];
    const unknown = words.filter((found) => !known.has(found));
    const unspokenWords = words.filter((found) => !person.words.has(found));
    const newWords = new Set(unknown.length > 0 ? unknown : unspokenWords);

    return newWords.size > 0 ? [{ path, index, line: line.trim(), newWords }] : [];
  });
}

/** Numbers, words of two and more letters, box that are ticked or not, and signs such as `✅`. */
const word = /\d+(?:[.,]\d+)*|\p{L}[\p{L}\d_]+|\p{Script=Han}|\[[ xX]\]|\p{So}/gu;

/** In lower case. */
export const splitWords = (text: string): readonly string[] => text.toLowerCase().match(word) ?? [];

/**
 * Statements without these words; left out are those that say hardly more: no number or sign, and
 * no two words of four and more letters.
 */
export const withoutWords = (
  statements: readonly Statement[],
  words: ReadonlySet<string>,
): readonly Statement[] =>
  statements
    .map((statement) => ({
      ...statement,
      newWords: new Set([...statement.newWords].filter((found) => !words.has(found))),
    }))
    .filter(({ newWords }) => {
      const words = [...newWords];
      return words.some((found) => kindOf(found) !== "word") || words.filter(isLong).length > 1;
    });

/** The same statements with their numbers alone, of which each may be wrong among right words. */
export const withNumbersOnly = (statements: readonly Statement[]): readonly Statement[] =>
  statements
    .map((statement) => ({
      ...statement,
      newWords: new Set([...statement.newWords].filter((found) => kindOf(found) === "number")),
    }))
    .filter(({ newWords }) => newWords.size > 0);

/** Prose: no heading, row of a table or item of a list, which checks of a form look for. */
export const isSentence = ({ line }: Statement): boolean =>
  /^[\p{L}\d"'`(*_]/u.test(line) && /\s/.test(line) && !/^(?:[*]|\d+[.)])\s/.test(line);

const isLong = (found: string): boolean => found.length > 3 || /\p{Script=Han}/u.test(found);

/** A document in which these statements have made-up words and numbers in the place of the new ones. */
export const replaceStatements = (text: string, statements: readonly Statement[]): string =>
  rewriteStatements(text, statements, toOtherWord);

/**
 * A document in which the new words of these statements have changed places, and so have their
 * numbers and signs: a check that only knows which words there are notices nothing.
 */
export function swapStatements(text: string, statements: readonly Statement[]): string {
  const kinds = new Map<string, string[]>();
  rewriteStatements(text, statements, (found) => {
    const kind = kindOf(found);
    kinds.set(kind, [...(kinds.get(kind) ?? []), found]);
    return found;
  });
  const usedPositions = new Map<string, number>();

  return rewriteStatements(text, statements, (found) => {
    const kind = kindOf(found);
    const same = kinds.get(kind) ?? [];
    const position = usedPositions.get(kind) ?? 0;
    usedPositions.set(kind, position + 1);
    const half = Math.ceil(same.length / 2);
    const others = [...same.slice(position + half), ...same.slice(0, position + half)];

    return others.find((other) => other.toLowerCase() !== found.toLowerCase()) ?? found;
  });
}

const kindOf = (found: string): string => {
  if (/^\d/.test(found)) return "number";
  return /^\p{L}/u.test(found) ? "word" : "sign";
};

function rewriteStatements(
  text: string,
  statements: readonly Statement[],
  rewrite: (word: string) => string,
): string {
  const lines = text.split("\n");
  for (const { index, newWords } of statements) {
    lines[index] = (lines[index] ?? "").replaceAll(word, (found) =>
      newWords.has(found.toLowerCase()) ? rewrite(found) : found,
    );
  }

  return lines.join("\n");
}

function toOtherWord(found: string): string {
  if (found.startsWith("[")) return found === "[ ]" ? "[x]" : "[ ]";
  return found.replaceAll(/[\p{L}\d]|\p{So}/gu, (character) => toOtherCharacter(character));
}

/** The next letter or digit: `a` for `z`, `1` for `9`, so that no number begins with another zero. */
function toOtherCharacter(character: string): string {
  const first = { z: "a", Z: "A", "9": "1" }[character];
  return first ?? String.fromCodePoint((character.codePointAt(0) ?? 0) + 1);
}
