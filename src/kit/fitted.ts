// fitted: cuts a page to a screen. The first block is never cut, nor what needs a person: lines that begin with ✗, !, ?, → or ▸, and each
// block's first line.

const isKept = (line: string): boolean => /^\s*[✗!?→▸]/u.test(line);

type Block = { readonly lines: readonly string[]; readonly dropped: ReadonlySet<number> };

/**
 * At most so many lines, blank ones between blocks included, unless more than that must be kept. The longest block gives first, from its
 * end, and says how many lines it gave.
 */
export function fitted(page: readonly string[], rowsMax: number): readonly string[] {
  if (page.length <= rowsMax) return page;
  let blocks: readonly Block[] = pageBlocks(page).map((lines) => ({ lines, dropped: new Set() }));
  for (;;) {
    const rows = blocks.map(blockRows);
    if (rows.reduce((sum, { length }) => sum + length, blocks.length - 1) <= rowsMax) return joined(rows);
    const at = longestOf(blocks);
    if (at === null) return joined(rows);
    blocks = blocks.map((block, index) => (index === at ? shortened(block) : block));
  }
}

function pageBlocks(page: readonly string[]): readonly string[][] {
  const blocks: string[][] = [[]];
  for (const line of page) {
    if (line === "") blocks.push([]);
    else blocks.at(-1)?.push(line);
  }
  return blocks.filter(({ length }) => length > 0);
}

const droppableIn = ({ lines, dropped }: Block): readonly number[] =>
  lines.flatMap((line, index) => (index === 0 || dropped.has(index) || isKept(line) ? [] : [index]));

function longestOf(blocks: readonly Block[]): number | null {
  const sizes = blocks.map((block, index) => (index === 0 ? 0 : droppableIn(block).length));
  const most = Math.max(...sizes);
  return most === 0 ? null : sizes.lastIndexOf(most);
}

/** Two at first: one of the rows says how many there are. */
function shortened(block: Block): Block {
  const gone = droppableIn(block).slice(block.dropped.size === 0 ? -2 : -1);
  return { ...block, dropped: new Set([...block.dropped, ...gone]) };
}

function blockRows({ lines, dropped }: Block): readonly string[] {
  const first = Math.min(...dropped);
  if (dropped.size === lines.length - 1 && dropped.size > 0) return [`${lines[0]}: ${countLines(dropped.size)} (-v)`];
  return lines.flatMap((line, index) => {
    if (index === first) return [`  … ${countLines(dropped.size).replace(" ", " more ")} (-v)`];
    return dropped.has(index) ? [] : [line];
  });
}

const countLines = (count: number): string => `${count} ${count === 1 ? "line" : "lines"}`;

const joined = (blocks: readonly (readonly string[])[]): readonly string[] =>
  blocks.flatMap((rows, index) => (index === 0 ? rows : ["", ...rows]));
