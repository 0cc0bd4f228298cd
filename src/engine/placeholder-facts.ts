// placeholder-facts: turns artifacts without real content into facts of a step and entries for the journal.

import type { Facts } from "../contracts/outcome.ts";
import type { RunView } from "../core/state.ts";
import type { PlaceholderFile } from "../ports/verifier.ts";

const shownMax = 10;
const recordedMax = 200;

/** Artifacts without real content, as facts of the step that left them: a row may send it back, and a finished run has a gap. */
export function placeholderFacts(hollow: readonly PlaceholderFile[]): Facts {
  if (hollow.length === 0) return {};
  const shown = hollow.slice(0, shownMax).map(({ file, why }) => `${file} (${why})`);
  const more = hollow.length > shown.length ? [`and ${hollow.length - shown.length} more`] : [];
  return { hollow: hollow.length, hollow_files: [...shown, ...more].join(", ") };
}

/** The same for the journal, with earlier placeholders in which this proof found content. */
export function findPlaceholders(
  run: RunView,
  hollow: readonly PlaceholderFile[],
  solid: readonly string[],
): { file: string; why: string | null }[] {
  const filled = solid.filter((file) => run.hollow?.[file] !== undefined).map((file) => ({ file, why: null }));
  return [...hollow.slice(0, recordedMax), ...filled];
}

/** As the line of a passed step carries it. */
export const emptyIn = (
  hollow: readonly { file: string; why: string | null }[] | undefined,
): { hollow?: { file: string; why: string | null }[] } => (hollow === undefined || hollow.length === 0 ? {} : { hollow: [...hollow] });
