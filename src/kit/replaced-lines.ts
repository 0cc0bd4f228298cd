// replaced-lines: finds the lines of a text that a later text no longer has, in groups as a diff shows
// them. Pure.

const cellsMax = 4_000_000;

/** Lines that stood together; null if the texts are too long to compare. */
export function listReplacedLines(
  before: string,
  after: string,
): readonly (readonly string[])[] | null {
  const earlier = before.split("\n");
  const later = after.split("\n");
  let start = 0;
  while (start < Math.min(earlier.length, later.length) && earlier[start] === later[start]) start++;
  let end = 0;
  while (
    end < Math.min(earlier.length, later.length) - start &&
    earlier.at(-1 - end) === later.at(-1 - end)
  )
    end++;
  return groupReplaced(
    earlier.slice(start, earlier.length - end),
    later.slice(start, later.length - end),
  );
}

function groupReplaced(
  earlier: readonly string[],
  later: readonly string[],
): readonly (readonly string[])[] | null {
  const width = later.length + 1;
  if ((earlier.length + 1) * width > cellsMax) return null;
  /** How many lines the rests of both texts have in common, in order. */
  const common = new Uint16Array((earlier.length + 1) * width);
  for (let row = earlier.length - 1; row >= 0; row--) {
    for (let column = later.length - 1; column >= 0; column--) {
      common[row * width + column] =
        earlier[row] === later[column]
          ? (common[(row + 1) * width + column + 1] ?? 0) + 1
          : Math.max(
              common[(row + 1) * width + column] ?? 0,
              common[row * width + column + 1] ?? 0,
            );
    }
  }

  const groups: string[][] = [];
  let [column, isOpen] = [0, false];
  for (const [row, line] of earlier.entries()) {
    const rest = common[row * width + column] ?? 0;
    if (rest === (common[(row + 1) * width + column] ?? 0)) {
      if (isOpen) groups.at(-1)?.push(line);
      else groups.push([line]);
      isOpen = true;
      continue;
    }

    while (line !== later[column]) column++;
    column++;
    isOpen = false;
  }

  return groups;
}
