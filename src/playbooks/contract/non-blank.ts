// non-blank: treats blank text and unfilled slash-command placeholders as not given.

/**
 * `$ARGUMENTS`, `${ARGUMENTS}`, `${ARGUMENTS:-}`: what an agent's slash command passes on if
 * nothing replaced it.
 */
const unfilledPlaceholder = /^\$ARGUMENTS$|^\$\{ARGUMENTS(?:[:?+=-][^}]*)?\}$/;

/**
 * The trimmed text; null if there is nothing in it, or nothing in its quotes, or only an unfilled
 * placeholder.
 */
export function nonBlank(text: string | undefined): string | null {
  const trimmed = text?.trim() ?? "";
  const unquoted = trimmed.replace(/^(["'])(.*)\1$/s, "$2").trim();
  return unquoted === "" || unfilledPlaceholder.test(unquoted) ? null : trimmed;
}
