// listed-items: counts the items of a kind (findings, bugs) that documents list, and tells whether
// a document contains an id. Pure, one pass over each text.

/** Kinds of items that reports list and count. */
export const listedNouns =
  "findings?|bugs?|issues?|defects?|risks?|requirements?|use cases?|recommendations?|gaps?|vulnerabilit(?:y|ies)";

/** The singular, as headings and ids have it: `Finding 3`, `BUG-012`. */
export function toSingular(noun: string): string {
  const lower = noun.toLowerCase();
  return lower.endsWith("ies") ? `${lower.slice(0, -3)}y` : lower.replace(/s$/, "");
}

export type ListCounts = {
  /**
   * How many there are by each style that was used: headings with the noun, headings with a number,
   * ids of the noun.
   */
  readonly counts: readonly number[];
  /** All headings, list items and table rows: no list can have more entries. */
  readonly entries: number;
};

export function countListedItems(texts: readonly string[], noun: string): ListCounts {
  const singular = toSingular(noun).replaceAll(/[^a-z ]/g, "");
  const heading = new RegExp(`^#{1,6}\\s+(?:.{0,200}\\b)?${singular}(?![a-z])`, "i");
  const id = new RegExp(`\\b${singular.replaceAll(" ", "[ _-]")}[-_ #]?\\d+`, "gi");
  const ids = new Set<string>();
  const tally = { byNoun: 0, byNumber: 0, entries: 0 };

  for (const line of texts.flatMap((text) => text.split("\n"))) {
    if (/^#{1,6}\s/.test(line)) {
      tally.entries++;
      if (heading.test(line)) tally.byNoun++;
      if (/^#{1,6}\s+\d+[.)]/.test(line)) tally.byNumber++;
    } else if (/^\s*(?:[-*+]|\d{1,9}[.)])\s+\S|^\s*\|.*[^\s|:-]/.test(line)) {
      tally.entries++;
    }

    for (const [match] of line.slice(0, lineCharsMax).matchAll(id)) {
      ids.add(match.toLowerCase().replaceAll(/[^a-z0-9]/g, ""));
    }
  }

  return {
    counts: [tally.byNoun, tally.byNumber, ids.size].filter((count) => count > 0),
    entries: tally.entries,
  };
}

/** So much of a line is searched for ids. */
const lineCharsMax = 10_000;

/** Whether a document contains an id as a separate word. */
export const containsId = (text: string, id: string): boolean =>
  new RegExp(`(?<![\\w-])${id.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w-])`, "i").test(
    text,
  );
