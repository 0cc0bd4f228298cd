// apply-changes: replaces parts of a text by their positions. Pure.

/** Replaces the text between two positions. */
export type TextChange = { readonly from: number; readonly to: number; readonly text: string };

/**
 * From the last to the first, so that positions stay right. A change that overlaps one behind it is
 * left out.
 */
export function applyChanges(text: string, changes: readonly TextChange[]): string {
  let [changed, unchangedEnd] = [text, text.length];
  for (const { from, to, text: replacement } of changes.toSorted(
    (left, right) => right.from - left.from || right.to - left.to,
  )) {
    if (to > unchangedEnd) continue;
    changed = changed.slice(0, from) + replacement + changed.slice(to);
    unchangedEnd = from;
  }

  return changed;
}
