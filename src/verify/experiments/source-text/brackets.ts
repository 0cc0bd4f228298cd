// brackets: finds positions in code by its brackets. There is no parser: the code is without
// comments and strings (mask-text.ts). Pure.

/** A part of a text, up to and without `to`. */
export type Span = { readonly from: number; readonly to: number };

/** By how much a bracket deepens the nesting. */
const steps: Readonly<Record<string, number>> = {
  "(": 1,
  "[": 1,
  "{": 1,
  ")": -1,
  "]": -1,
  "}": -1,
};

/** The position behind the bracket that closes the one at `open`; null if there is none. */
export function findClosingBracket(code: string, open: number): number | null {
  let depth = 0;
  for (let index = open; index < code.length; index += 1) {
    depth += steps[code[index] ?? ""] ?? 0;
    if (depth === 0) return index + 1;
  }

  return null;
}

/** The position of the bracket that the one at `close` closes; null if there is none. */
export function findOpeningBracket(code: string, close: number): number | null {
  let depth = 0;
  for (let index = close; index >= 0; index -= 1) {
    depth -= steps[code[index] ?? ""] ?? 0;
    if (depth === 0) return index;
  }

  return null;
}

/**
 * The first position outside brackets that `isMeant`, or where the bracket around all of it closes;
 * `to` if there is neither.
 */
export function findOutsideBrackets(
  code: string,
  from: number,
  to: number,
  isMeant: (letter: string, index: number) => boolean,
): number {
  let depth = 0;
  for (let index = from; index < to; index += 1) {
    const letter = code[index] ?? "";
    depth += steps[letter] ?? 0;
    if (depth < 0 || (depth === 0 && isMeant(letter, index))) return index;
  }

  return to;
}

/** The parts between the commas outside brackets. */
export function splitAtCommas(code: string, from: number, to: number): readonly Span[] {
  const parts: Span[] = [];
  for (let start = from; start <= to;) {
    const end = findOutsideBrackets(code, start, to, (letter) => letter === ",");
    parts.push({ from: start, to: end });
    start = end + 1;
  }

  return parts;
}

/** The span without the white space at its ends. */
export function trimSpan(code: string, { from, to }: Span): Span {
  const inner = code.slice(from, to);
  return {
    from: from + inner.length - inner.trimStart().length,
    to: to - (inner.length - inner.trimEnd().length),
  };
}
