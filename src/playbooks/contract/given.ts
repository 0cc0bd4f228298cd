/** What was really given: an empty text, or a slash command's placeholder that nothing replaced, was not. */
export function given(text: string | undefined): string | null {
  const words = text?.trim() ?? "";
  const bare = words.replace(/^(["'])(.*)\1$/s, "$2").trim();
  return bare === "" || /^\$ARGUMENTS$|^\$\{ARGUMENTS(?:[:?+=-][^}]*)?\}$/.test(bare) ? null : words;
}
