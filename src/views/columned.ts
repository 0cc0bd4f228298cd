// columned: aligns rows of cells into columns of text, and names the rows of a page.

import { textColumns, paddedTo } from "../kit/columns.ts";

/** Rows as lines whose cells are under each other; `right`: the columns whose figures end alike. */
export function columned(
  rows: readonly (readonly string[])[],
  { right = [] }: { readonly right?: readonly number[] } = {},
): readonly string[] {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, column) =>
    rows.reduce((most, row) => Math.max(most, textColumns(row[column] ?? "")), 0),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => paddedTo(cell, widths[column] ?? 0, right.includes(column) ? "right" : "left"))
      .join("  ")
      .trimEnd(),
  );
}

/** Rows with a name: the first line is beside it, the others under the first. */
export const labelledRows = (width: number, name: string, lines: readonly string[]): readonly string[] =>
  lines.map((line, index) => `  ${(index === 0 ? name : "").padEnd(width)} ${line}`);
