// near-inputs: makes inputs near those of a test: "6s" for "5s", "Iello World" for "Hello World".
// Pure.
//
// Invariants:
//   M1. Numbers are changed alone or at the head of a word: names and codes (`km2`, `sha256`) may
//       well be a closed list.
//   M2. A text without numbers is changed in several ways: other letters, other words, fewer, more.
//       A function that reads words may know the answer to one of these, but hardly to all.

/** What is added to a number; the recorders use these steps too. */
export const numberSteps: readonly number[] = [1, 2, -1, 3, 5];
const textCharsMax = 200;

/**
 * Other numbers with as many digits, and never much larger: a function's time may grow fast with
 * its input.
 */
export function listNearNumbers(text: string): readonly string[] {
  const [whole = "0", fraction] = text.split(".");
  const suffix = fraction === undefined ? "" : `.${fraction}`;
  const nearWholes = numberSteps.map((step) => Number(whole) + step).filter((near) => near > 0);
  const padded = nearWholes
    .map((near) => String(near).padStart(whole.length, "0"))
    .filter((near) => near.length === whole.length);

  return padded.map((near) => `${near}${suffix}`);
}

/** Other texts of the same kind; none if there is nothing to change. */
export function listNearTexts(text: string): readonly string[] {
  if (text.length > textCharsMax || /[^ -~]|\\/.test(text)) return [];
  const number = /(?<![\w.]|\d)\d{1,9}/.exec(text);
  if (number !== null) {
    const [before, after] = [
      text.slice(0, number.index),
      text.slice(number.index + number[0].length),
    ];

    return listNearNumbers(number[0]).map((near) => `${before}${near}${after}`); // M1
  }

  const words = text.trim().split(/\s+/);
  const letters = [...text.matchAll(/[A-Za-z]/g)].map(({ index }) => index);
  const [first, middle, last] = [letters[0], letters[letters.length >> 1], letters.at(-1)];
  if (
    /\d/.test(text) ||
    letters.length < 3 ||
    first === undefined ||
    middle === undefined ||
    last === undefined
  ) {
    return [];
  }

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
  return [...new Set(variants)].filter((variant) => variant !== text && variant !== ""); // M2
}

/** Replaces the letter at a position by the next of the alphabet; `a` follows `z`. */
function withNextLetter(text: string, position: number): string {
  const letter = text[position] ?? "";
  const next = /[zZ]/.test(letter)
    ? String.fromCharCode(letter.charCodeAt(0) - 25)
    : String.fromCharCode(letter.charCodeAt(0) + 1);
  return text.slice(0, position) + next + text.slice(position + 1);
}
