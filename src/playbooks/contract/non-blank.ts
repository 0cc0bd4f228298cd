// non-blank: treats blank text and unfilled slash-command placeholders as not given.

/** Null for an empty text and for a slash command's placeholder that nothing replaced. */
export function nonBlank(text: string | undefined): string | null {
  const trimmed = text?.trim() ?? "";
  const bare = trimmed.replace(/^(["'])(.*)\1$/s, "$2").trim();
  return bare === "" || /^\$ARGUMENTS$|^\$\{ARGUMENTS(?:[:?+=-][^}]*)?\}$/.test(bare) ? null : trimmed;
}
