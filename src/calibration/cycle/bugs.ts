// bugs: parses the bugs of a BUGS.md, and matches those a run found with a baseline's, with the reason of every match.
//
// Invariants:
//   B1. One found bug matches at most one of the baseline, and the reverse; the order in a file does not matter.
//   B2. Ids come first, then file and lines, then titles. An id alone does not match two bugs that name different files: each run numbers
//       its own bugs.
//   B3. A baseline without bugs has no recall: null, never one or zero.

export type Bug = {
  readonly id: string;
  readonly title: string;
  readonly file: string | null;
  readonly lines: readonly [number, number] | null;
};
export type MatchReason = "id" | "place" | "title";
export type Match = { readonly baseline: string; readonly found: string; readonly by: MatchReason; readonly detail: string };
export type Recall = {
  readonly recall: number | null;
  readonly matches: readonly Match[];
  readonly found: readonly string[];
  readonly missed: readonly string[];
};

const heading = /^ {0,3}#{2,4}[ \t]+(BUG-(?:[A-Za-z][A-Za-z-]{0,40}-)?[A-Za-z0-9]{1,40})\b[ \t]*[:.—–-]*[ \t]*(.*)$/;
const fileAndLines = /(?:^|[\s`"'(])((?:[\w.@+-]+\/)*[\w.@+-]+\.[A-Za-z]\w{0,9}):(\d{1,7})(?:\s?[-–]\s?L?(\d{1,7}))?/;
const fileField = /\*{0,2}(?:File|Location|Path)s?\*{0,2}:\*{0,2}[ \t]*`?((?:[\w.@+-]+\/)*[\w.@+-]+\.\w{1,10})`?/i;
const linesField = /\*{0,2}Lines?\*{0,2}:\*{0,2}[ \t]*`?L?(\d{1,7})(?:\s?[-–]\s?L?(\d{1,7}))?/i;

/** Every bug with its own heading; a duplicate id counts once. */
export function parseBugs(text: string): readonly Bug[] {
  const bugs = new Map<string, Bug>();
  let open: { readonly id: string; readonly title: string; readonly body: string[] } | null = null;
  const close = (): void => {
    if (open !== null && !bugs.has(open.id))
      bugs.set(open.id, { id: open.id, title: open.title, ...findPlace([open.title, ...open.body]) });
  };
  let fence: string | null = null;
  for (const line of text.split(/\r?\n/)) {
    const mark = /^ {0,3}(```+|~~~+)/.exec(line)?.[1] ?? null;
    if (mark !== null && fence === null) fence = mark;
    else if (mark !== null && fence !== null && mark.startsWith(fence)) fence = null;
    const [, id, title = ""] = (fence === null ? heading.exec(line) : null) ?? [];
    if (id !== undefined) {
      close();
      open = { id, title: title.trim(), body: [] };
    } else if (open !== null && fence === null && /^ {0,3}#{1,2}[ \t]/.test(line)) {
      close(); // another chapter
      open = null;
    } else open?.body.push(line);
  }
  close();
  return [...bugs.values()];
}

function findPlace(lines: readonly string[]): Pick<Bug, "file" | "lines"> {
  for (const line of lines) {
    const [, file, from, to] = fileAndLines.exec(line) ?? [];
    if (file !== undefined) return { file, lines: rangeOf(from, to) };
  }
  const first = (pattern: RegExp): RegExpExecArray | null =>
    lines.reduce<RegExpExecArray | null>((match, line) => match ?? pattern.exec(line), null);
  const file = first(fileField)?.[1] ?? null;
  const [, from, to] = first(linesField) ?? [];
  return { file, lines: file === null || from === undefined ? null : rangeOf(from, to) };
}

function rangeOf(from: string | undefined, to: string | undefined): readonly [number, number] {
  const [first, last] = [Number(from), Number(to ?? from)];
  return [Math.min(first, last), Math.max(first, last)];
}

/** Which bugs of a baseline a run found again. */
export function measureRecall(baseline: readonly Bug[], foundBugs: readonly Bug[]): Recall {
  const matches: Match[] = [];
  const unmatched = { baseline: [...baseline].toSorted(byId), found: [...foundBugs].toSorted(byId) };
  for (const [by, why] of passes) {
    for (const [bug, other] of pairUp(unmatched.baseline, unmatched.found, (a, b) => why(a, b) !== null))
      matches.push({ baseline: bug.id, found: other.id, by, detail: why(bug, other) ?? "" });
    unmatched.baseline = unmatched.baseline.filter(({ id }) => !matches.some((match) => match.baseline === id)); // B1
    unmatched.found = unmatched.found.filter(({ id }) => !matches.some((match) => match.found === id));
  }
  return {
    recall: baseline.length === 0 ? null : matches.length / baseline.length, // B3
    matches: matches.toSorted((a, b) => (a.baseline < b.baseline ? -1 : 1)),
    found: foundBugs.map(({ id }) => id),
    missed: baseline.map(({ id }) => id).filter((id) => !matches.some((match) => match.baseline === id)),
  };
}

function byId(a: Bug, b: Bug): number {
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}

/** B2: each pass says why two bugs are one, or null. */
const passes: readonly (readonly [MatchReason, (baseline: Bug, found: Bug) => string | null])[] = [
  ["id", sameId],
  ["place", samePlace],
  ["title", sameTitle],
];

function sameId(a: Bug, b: Bug): string | null {
  const isFileKnown = a.file !== null && b.file !== null;
  return a.id === b.id && (!isFileKnown || isSameFile(a.file, b.file)) ? a.id : null;
}

function samePlace(a: Bug, b: Bug): string | null {
  if (a.file === null || b.file === null || a.lines === null || b.lines === null) return null;
  if (!isSameFile(a.file, b.file) || !doOverlap(a.lines, b.lines)) return null;
  return `${a.file}:${a.lines.join("-")} and ${b.file}:${b.lines.join("-")}`;
}

function sameTitle(a: Bug, b: Bug): string | null {
  const title = plainTitle(a.title);
  return title !== "" && title === plainTitle(b.title) ? title : null;
}

/** The same path, or one that ends with the other: `driver.c` and `src/driver.c`. */
function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => path.replace(/^\.\//, ""));
  return a !== undefined && b !== undefined && (a === b || a.endsWith(`/${b}`) || b.endsWith(`/${a}`));
}

const doOverlap = (a: readonly [number, number], b: readonly [number, number]): boolean => a[0] <= b[1] && b[0] <= a[1];

export const plainTitle = (title: string): string =>
  title
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}]+/gu, " ")
    .trim();

/** As many pairs as there can be (Kuhn's augmenting paths), so that no order of the files costs a match. B1 */
function pairUp<One, Other>(
  ones: readonly One[],
  others: readonly Other[],
  isPair: (a: One, b: Other) => boolean,
): readonly (readonly [One, Other])[] {
  const partners = new Map<Other, One>();
  const findPartner = (left: One, tried: Set<Other>): boolean => {
    for (const other of others) {
      if (tried.has(other) || !isPair(left, other)) continue;
      tried.add(other);
      const before = partners.get(other);
      if (before === undefined || findPartner(before, tried)) {
        partners.set(other, left);
        return true;
      }
    }
    return false;
  };
  for (const item of ones) findPartner(item, new Set());
  return [...partners].map(([other, left]) => [left, other]);
}
