// statements: finds the lines of a document that say something new, and says something else in
// their place. Pure.
//
// Invariants:
//   S1. A line says something new if it has a number or three words that neither the document had
//       before nor the person gave: the goal and the commands of checks are the person's words.
//   S2. What the runner has compared by itself (an output, an example's answer) says nothing more.

export type Statement = {
  readonly path: string;
  /** Its line in the document, from 0. */
  readonly index: number;
  readonly line: string;
  /** Its words and numbers that are new, in lower case. */
  readonly newWords: ReadonlySet<string>;
};

const newWordsMin = 3;
const fence = /^\s*(?:`{3,}|~{3,})/;

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
  const lines = is.split("\n");
  const before = new Set((was ?? "").split("\n").map((line) => line.trim()));
  const known = new Set([...splitWords(was ?? ""), ...splitWords(given)]);

  return lines.flatMap((line, index) => {
    if (fence.test(line) || before.has(line.trim()) || isCompared(line)) return [];
    const words = splitWords(line.replace(/^\s*\d+[.)]\s/, "")); // the number of a list's item is none
    const newWords = new Set(words.filter((word) => !known.has(word)));
    return saysSomething(newWords) ? [{ path, index, line: line.trim(), newWords }] : [];
  });
}

/** S1 */
const saysSomething = (newWords: ReadonlySet<string>): boolean =>
  newWords.size >= newWordsMin || [...newWords].some((word) => /^\d/.test(word));

const word = /\d+(?:[.,]\d+)*|\p{L}[\p{L}\d_]+/gu;

/** Words of two and more letters, and numbers; in lower case. */
const splitWords = (text: string): readonly string[] => text.toLowerCase().match(word) ?? [];

/** A document in which these statements have other words and numbers in the place of the new ones. */
export function replaceStatements(text: string, statements: readonly Statement[]): string {
  const lines = text.split("\n");
  for (const { index, newWords } of statements) {
    lines[index] = (lines[index] ?? "").replaceAll(word, (found) =>
      newWords.has(found.toLowerCase()) ? found.replaceAll(/[a-z0-9]/gi, toOtherCharacter) : found,
    );
  }

  return lines.join("\n");
}

/** The next letter or digit: `a` for `z`, `1` for `9`, so that no number begins with another zero. */
function toOtherCharacter(character: string): string {
  const first = { z: "a", Z: "A", "9": "1" }[character];
  return first ?? String.fromCharCode(character.charCodeAt(0) + 1);
}
