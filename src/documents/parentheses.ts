// parentheses: finds matching parentheses and the text outside them.

const opening = new Set(["(", "（"]);
const closing = new Set([")", "）"]);

/** The index where the parenthesis at `position` is closed; -1 if it is not. */
export function findClosingParenthesis(text: string, position: number): number {
  let depth = 0;
  for (let index = position; index < text.length; index += 1) {
    const letter = text.charAt(index);
    if (opening.has(letter)) depth += 1;
    else if (closing.has(letter)) depth -= 1;

    if (depth === 0) return index;
  }

  return -1;
}

/**
 * Replaces each text in parentheses by a space. If one is not closed, the rest is dropped and
 * `isClosed` is false.
 */
export function dropParentheses(text: string): {
  readonly text: string;
  readonly isClosed: boolean;
} {
  if (!/[()（）]/.test(text)) return { text: text.trim(), isClosed: true };
  const outside: string[] = [];
  let depth = 0;

  for (const letter of text) {
    if (opening.has(letter)) {
      depth += 1;
    } else if (closing.has(letter)) {
      if (depth === 1) outside.push(" ");
      depth = Math.max(0, depth - 1);
    } else if (depth === 0) {
      outside.push(letter);
    }
  }

  return { text: outside.join("").trim(), isClosed: depth === 0 };
}
