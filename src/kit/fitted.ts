// fitted: shortens a page to the height of a screen. A page is made of blocks with blank lines
// between. The first block is never cut, nor the first line of a block, nor a next step (→, ▸).
// Lines that need a person (✗, !, ?) are cut only if nothing else is left to cut.

const isKept = (line: string): boolean => /^\s*[✗!?→▸]/u.test(line);
const isNextStep = (line: string): boolean => /^\s*[→▸]/u.test(line);

/** A block of the page, and the positions of the lines that it gave. */
type Block = { readonly lines: readonly string[]; readonly dropped: ReadonlySet<number> };

/**
 * At most so many rows, blank ones between blocks included, unless more than that must be kept. The
 * longest block gives first, from its end, and says how many lines it gave. `rowsOf`: how many rows
 * of the terminal a line takes.
 */
export function fitted(
  page: readonly string[],
  rowsMax: number,
  rowsOf: (line: string) => number = () => 1,
): readonly string[] {
  const sum = (lines: readonly string[]): number =>
    lines.reduce((total, line) => total + rowsOf(line), 0);
  if (sum(page) <= rowsMax) return page;
  let blocks: readonly Block[] = splitBlocks(page).map((lines) => ({ lines, dropped: new Set() }));

  for (;;) {
    const rows = blocks.map(formatBlock);
    if (sum(joinBlocks(rows)) <= rowsMax) return joinBlocks(rows);
    const keeps = [isKept, isNextStep].find(
      (candidate) => findLongestBlock(blocks, candidate) !== null,
    );
    if (keeps === undefined) return joinBlocks(rows);
    const longest = findLongestBlock(blocks, keeps);
    blocks = blocks.map((block, index) => (index === longest ? dropLines(block, keeps) : block));
  }
}

function splitBlocks(page: readonly string[]): readonly string[][] {
  const blocks: string[][] = [[]];
  for (const line of page) {
    if (line === "") blocks.push([]);
    else blocks.at(-1)?.push(line);
  }

  return blocks.filter(({ length }) => length > 0);
}

type Keeps = (line: string) => boolean;

const listDroppable = ({ lines, dropped }: Block, keeps: Keeps): readonly number[] =>
  lines.flatMap((line, index) => (index === 0 || dropped.has(index) || keeps(line) ? [] : [index]));

function findLongestBlock(blocks: readonly Block[], keeps: Keeps): number | null {
  const sizes = blocks.map((block, index) =>
    index === 0 ? 0 : listDroppable(block, keeps).length,
  );
  const most = Math.max(...sizes);
  return most === 0 ? null : sizes.lastIndexOf(most);
}

/**
 * Drops a line from the end of a block; at first two, because one row then says how many were
 * dropped.
 */
function dropLines(block: Block, keeps: Keeps): Block {
  const lastLines = listDroppable(block, keeps).slice(block.dropped.size === 0 ? -2 : -1);
  return { ...block, dropped: new Set([...block.dropped, ...lastLines]) };
}

function formatBlock({ lines, dropped }: Block): readonly string[] {
  const first = Math.min(...dropped);
  if (dropped.size === lines.length - 1 && dropped.size > 0) {
    return [`${lines[0]}: ${formatLineCount(dropped.size)} (-v)`];
  }

  return lines.flatMap((line, index) => {
    if (index === first) {
      return [`  … ${formatLineCount(dropped.size).replace(" ", " more ")} (-v)`];
    }

    return dropped.has(index) ? [] : [line];
  });
}

const formatLineCount = (count: number): string => `${count} ${count === 1 ? "line" : "lines"}`;

const joinBlocks = (blocks: readonly (readonly string[])[]): readonly string[] =>
  blocks.flatMap((rows, index) => (index === 0 ? rows : ["", ...rows]));
