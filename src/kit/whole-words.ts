// whole-words: cuts a text between two words. A secret that was cut in two would not be recognised
// by a later redaction, so a word that crosses the limit is left out.

/**
 * At the end of a head a longer word is cut anyway: no secret is so long. So is a word that the
 * text begins with.
 */
const wordCharsMax = 1_500;

/** The beginning of a text, at most so many characters. */
export function wholeHead(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  if (/\s/.test(text.charAt(charsMax))) return text.slice(0, charsMax);
  let end = charsMax;
  while (end > 0 && charsMax - end < wordCharsMax && !/\s/.test(text.charAt(end - 1))) end--;

  return text.slice(0, end === 0 || charsMax - end >= wordCharsMax ? charsMax : end);
}

/** The end of a text, at most so many characters; empty if they are all of one word. */
export function wholeTail(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const tail = text.slice(-charsMax);
  if (/\s/.test(text.charAt(text.length - charsMax - 1))) return tail;
  const border = tail.search(/\s/);

  return border === -1 ? "" : tail.slice(border);
}
