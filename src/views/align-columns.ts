// align-columns: aligns rows of cells into columns of text, and puts labels before the rows of a
// page.

import { countColumns, padTo } from "../kit/columns.ts";

/**
 * Rows as lines whose cells are aligned; `right`: the columns that are aligned at their right edge.
 */
export function alignColumns(
  rows: readonly (readonly string[])[],
  { right = [] }: { readonly right?: readonly number[] } = {},
): readonly string[] {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, column) =>
    rows.reduce((most, row) => Math.max(most, countColumns(row[column] ?? "")), 0),
  );
  return rows.map((row) =>
    row
      .map((cell, column) =>
        padTo(cell, widths[column] ?? 0, right.includes(column) ? "right" : "left"),
      )
      .join("  ")
      .trimEnd(),
  );
}

/** Lines with a label before the first one; the others are indented by the width of the label. */
export const labelRows = (
  width: number,
  name: string,
  lines: readonly string[],
): readonly string[] =>
  lines.map((line, index) => `  ${(index === 0 ? name : "").padEnd(width)} ${line}`);
