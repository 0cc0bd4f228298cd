// placeholder-facts: turns artifacts without real content into facts of a step and entries for the
// journal.

import type { Facts } from "../contracts/outcome.ts";
import type { RunView } from "../core/state.ts";
import type { PlaceholderFile } from "../ports/verifier.ts";

const shownMax = 10;
const recordedMax = 200;

/**
 * Artifacts without real content, as facts of the step that left them: a row may send it back, and
 * a finished run has a gap.
 */
export function buildPlaceholderFacts(placeholders: readonly PlaceholderFile[]): Facts {
  if (placeholders.length === 0) return {};
  const shown = placeholders.slice(0, shownMax).map(({ file, why }) => `${file} (${why})`);
  const moreText =
    placeholders.length > shown.length ? [`and ${placeholders.length - shown.length} more`] : [];

  return { hollow: placeholders.length, hollow_files: [...shown, ...moreText].join(", ") };
}

/** The same for the journal, with earlier placeholders in which this proof found content. */
export function listPlaceholderEntries(
  run: RunView,
  placeholders: readonly PlaceholderFile[],
  filesWithContent: readonly string[],
): { file: string; why: string | null }[] {
  const nowFilled = filesWithContent
    .filter((file) => run.hollow?.[file] !== undefined)
    .map((file) => ({ file, why: null }));
  return [...placeholders.slice(0, recordedMax), ...nowFilled];
}

/** The field of a passed step's event; absent if there are no placeholders. */
export const placeholderField = (
  placeholders: readonly { file: string; why: string | null }[] | undefined,
): { hollow?: { file: string; why: string | null }[] } =>
  placeholders === undefined || placeholders.length === 0 ? {} : { hollow: [...placeholders] };
