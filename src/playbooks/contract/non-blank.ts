// non-blank: treats blank text and unfilled slash-command placeholders as not given.

/** What was really given: an empty text, or a slash command's placeholder that nothing replaced, was not. */
export function nonBlank(text: string | undefined): string | null {
  const message = text?.trim() ?? "";
  const bare = message.replace(/^(["'])(.*)\1$/s, "$2").trim();
  return bare === "" || /^\$ARGUMENTS$|^\$\{ARGUMENTS(?:[:?+=-][^}]*)?\}$/.test(bare) ? null : message;
}
