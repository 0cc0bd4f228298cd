// columns: measures, cuts, pads and wraps text by its width in a terminal. Chinese, Japanese,
// Korean and emoji take two columns, combining marks none.

const widePattern =
  /[\u1100-\u115f\u231a\u231b\u23e9-\u23ec\u23f0\u23f3\u25fd\u25fe\u2614\u2615\u2648-\u2653\u267f\u2693\u26a1\u26aa\u26ab\u26bd\u26be\u26c4\u26c5\u26ce\u26d4\u26ea\u26f2\u26f3\u26f5\u26fa\u26fd\u2705\u270a\u270b\u2728\u274c\u274e\u2753-\u2755\u2757\u2795-\u2797\u27b0\u27bf\u2b1b\u2b1c\u2b50\u2b55\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f004}\u{1f0cf}\u{1f18e}\u{1f191}-\u{1f19a}\u{1f200}-\u{1f320}\u{1f32d}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f7e0}-\u{1f7eb}\u{1f90c}-\u{1f9ff}\u{1fa70}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const zeroWidthPattern = /\p{Mn}|\p{Me}|\u200c|\u200d/u; // variation selectors are marks too
const asciiPattern = /^[\u0020-\u007e]*$/;

/** How many columns a line takes. A tab counts as one; no line of ours has any. */
export function countColumns(text: string): number {
  if (asciiPattern.test(text)) return text.length;
  let columns = 0;

  for (const letter of text) {
    if (!zeroWidthPattern.test(letter)) columns += widePattern.test(letter) ? 2 : 1;
  }

  return columns;
}

/** The text cut to at most so many columns; if something is cut off, it ends with an ellipsis. */
export function cutToColumns(text: string, columnsMax: number): string {
  if (countColumns(text) <= columnsMax) return text;
  let [kept, columns] = ["", 0];

  for (const letter of text) {
    columns += countColumns(letter);
    if (columns > columnsMax - 1) break;
    kept += letter;
  }

  return columnsMax < 1 ? "" : `${kept}…`;
}

/** Pads a text with blanks to so many columns. `side`: where the text is. */
export function padTo(text: string, columns: number, side: "left" | "right" = "left"): string {
  const blanks = " ".repeat(Math.max(0, columns - countColumns(text)));
  return side === "left" ? `${text}${blanks}` : `${blanks}${text}`;
}

/** A narrower terminal gets lines as they are. */
const columnsMin = 20;

/**
 * Breaks a line between words so that each piece takes at most so many columns; a longer word stays
 * whole. Further pieces are indented to where the text begins: behind a mark (`✓ `), and in a table
 * behind the first column.
 */
export function wrapTo(line: string, columnsMax: number): readonly string[] {
  if (columnsMax < columnsMin || countColumns(line) <= columnsMax) return [line];
  const indent = /^ *(?:[^\p{L}\p{N}\s(["'`-] )?/u.exec(line)?.[0] ?? "";
  const head = /^\S+(?: \S+)*? {2,}(?=\S)/.exec(line.slice(indent.length))?.[0] ?? "";
  const isTable = head !== "" && countColumns(indent + head) <= columnsMax / 2;
  const hanging = " ".repeat(countColumns(isTable ? indent + head : indent));
  const pieces: string[] = [];
  let piece = isTable ? indent + head : indent;
  let isBlank = true;

  for (const word of line.slice(piece.length).split(" ")) {
    const longer = isBlank ? piece + word : `${piece} ${word}`;
    if (isBlank || countColumns(longer) <= columnsMax) {
      piece = longer;
    } else {
      pieces.push(piece.trimEnd());
      piece = hanging + word;
    }

    isBlank = false;
  }

  return [...pieces, piece];
}
