// parentheses: finds matching parentheses and the text outside them.

const opening = new Set(["(", "（"]);
const closing = new Set([")", "）"]);

/** Where the parenthesis that opens at `position` closes, inner ones counted; -1 where it does not. */
export function closingParenthesis(text: string, position: number): number {
  let depth = 0;
  for (let n = position; n < text.length; n += 1) {
    const letter = text.charAt(n);
    if (opening.has(letter)) depth += 1;
    else if (closing.has(letter)) depth -= 1;
    if (depth === 0) return n;
  }
  return -1;
}

/** Replaces each parenthesis by a space. If one is left open, the rest of the text belongs to it and `isClosed` is false. */
export function outsideParentheses(text: string): { readonly text: string; readonly isClosed: boolean } {
  if (!/[()（）]/.test(text)) return { text: text.trim(), isClosed: true };
  const kept: string[] = [];
  let depth = 0;
  for (const letter of text) {
    if (opening.has(letter)) depth += 1;
    else if (closing.has(letter)) {
      if (depth === 1) kept.push(" ");
      depth = Math.max(0, depth - 1);
    } else if (depth === 0) kept.push(letter);
  }
  return { text: kept.join("").trim(), isClosed: depth === 0 };
}
