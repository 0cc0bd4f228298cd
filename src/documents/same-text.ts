// same-text: tests whether two texts are equal apart from case, punctuation and spaces.

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** Whether two texts say the same in the same words: letters' case, marks and spaces do not count. */
export const isSameText = (a: string, b: string): boolean => plain(a) === plain(b) && plain(a) !== "";
