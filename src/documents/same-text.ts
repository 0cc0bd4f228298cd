// same-text: tests whether two texts are equal apart from case, punctuation and spaces.

const normalize = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

export const isSameText = (a: string, b: string): boolean =>
  normalize(a) === normalize(b) && normalize(a) !== "";
