// compose-pattern: builds the sources of long regular expressions from named parts.

/** `(?:test|check)` of `test check`: each word, parted by blanks, is a source of its own. */
export const oneOf = (words: string): string => `(?:${words.trim().split(/\s+/).join("|")})`;
