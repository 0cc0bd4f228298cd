// shell-word: writes a text as one word of a shell's command line, in quotes only if it needs them.
// Pure.

export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
