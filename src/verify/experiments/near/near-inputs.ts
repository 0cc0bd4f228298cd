// near-inputs: inputs near those of a test: "6s" for "5s", "Hellp World" for "Hello World". Pure.
//
// Invariants:
//   M1. Numbers are changed alone or at the head of a word: names and codes (`km2`, `sha256`) may well be a closed list.
//   M2. A text without numbers is changed in several ways: other letters, other words, fewer, more. A function that reads words may know
//       one of these, hardly all.

/** What is added to a number; the recorders use these steps too. */
export const numberSteps: readonly number[] = [1, 2, -1, 3, 5];
const textCharsMax = 200;

/** Other numbers with as many digits, and never much more: what a number costs may grow fast. */
export function nearNumbers(text: string): readonly string[] {
  const [whole = "0", fraction] = text.split(".");
  const value = Number(whole);
  const fits = (other: number): boolean => String(other).padStart(whole.length, "0").length === whole.length;
  const others = numberSteps.map((step) => value + step).filter((other) => other > 0 && fits(other));
  return others.map((other) => `${String(other).padStart(whole.length, "0")}${fraction === undefined ? "" : `.${fraction}`}`);
}

/** Other texts of the same kind; none if there is nothing to change. */
export function nearTexts(text: string): readonly string[] {
  if (text.length > textCharsMax || /[^ -~]|\\/.test(text)) return [];
  const found = /(?<![\w.]|\d)\d{1,9}/.exec(text);
  if (found !== null)
    return nearNumbers(found[0]).map((other) => text.slice(0, found.index) + other + text.slice(found.index + found[0].length)); // M1
  const words = text.trim().split(/\s+/);
  const letters = [...text.matchAll(/[A-Za-z]/g)].map(({ index }) => index);
  const [first, middle, last] = [letters[0], letters[letters.length >> 1], letters.at(-1)];
  if (/\d/.test(text) || letters.length < 3 || first === undefined || middle === undefined || last === undefined) return [];
  const ofWords = [
    words.toReversed().join(" "), // the words in reverse
    words.slice(1).join(" "), // without the first word
    words.slice(0, -1).join(" "), // without the last word
    `${text} ${text}`, // the text twice
  ];
  const ofLetters = [
    withNextLetter(text, middle), // another letter in the middle
    text.slice(0, last) + text.slice(last + 1), // without the last letter
    text.slice(0, last) + text.slice(last - 1), // the letter before the last one twice
  ];
  const variants = [
    withNextLetter(text, first), // another first letter
    withNextLetter(text, last), // another last letter
    ...(words.length > 1 ? ofWords : ofLetters),
  ];
  return [...new Set(variants)].filter((one) => one !== text && one !== ""); // M2
}

/** The text with the letter at this position replaced by the next of the alphabet; `a` follows `z`. */
function withNextLetter(text: string, position: number): string {
  const letter = text[position] ?? "";
  const next = /[zZ]/.test(letter) ? String.fromCharCode(letter.charCodeAt(0) - 25) : String.fromCharCode(letter.charCodeAt(0) + 1);
  return text.slice(0, position) + next + text.slice(position + 1);
}
