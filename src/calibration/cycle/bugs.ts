// bugs: the bugs of a BUGS.md, and which of a baseline's a run found again, with the reason of every match.
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
export type Recalled = {
  readonly recall: number | null;
  readonly matches: readonly Match[];
  readonly found: readonly string[];
  readonly missed: readonly string[];
};

const heading = /^ {0,3}#{2,4}[ \t]+(BUG-(?:[A-Za-z][A-Za-z-]{0,40}-)?[A-Za-z0-9]{1,40})\b[ \t]*[:.—–-]*[ \t]*(.*)$/;
const place = /(?:^|[\s`"'(])((?:[\w.@+-]+\/)*[\w.@+-]+\.[A-Za-z]\w{0,9}):(\d{1,7})(?:\s?[-–]\s?L?(\d{1,7}))?/;
const fileField = /\*{0,2}(?:File|Location|Path)s?\*{0,2}:\*{0,2}[ \t]*`?((?:[\w.@+-]+\/)*[\w.@+-]+\.\w{1,10})`?/i;
const linesField = /\*{0,2}Lines?\*{0,2}:\*{0,2}[ \t]*`?L?(\d{1,7})(?:\s?[-–]\s?L?(\d{1,7}))?/i;

/** Every bug with its own heading; a duplicate id counts once. */
export function readBugs(text: string): readonly Bug[] {
  const bugs = new Map<string, Bug>();
  let open: { readonly id: string; readonly title: string; readonly body: string[] } | null = null;
  const close = (): void => {
    if (open !== null && !bugs.has(open.id))
      bugs.set(open.id, { id: open.id, title: open.title, ...findPlace([open.title, ...open.body]) });
  };
  let fence: string | null = null;
  for (const line of text.split(/\r?\n/)) {
    const mark = /^ {0,3}(```+|~~~+)/.exec(line)?.[1] ?? null;
    if (mark !== null) fence = fence === null ? mark : mark.startsWith(fence) ? null : fence;
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
    const [, file, from, to] = place.exec(line) ?? [];
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
export function baselineRecall(baseline: readonly Bug[], foundBugs: readonly Bug[]): Recalled {
  const matches: Match[] = [];
  const left = { baseline: [...baseline].toSorted(byId), found: [...foundBugs].toSorted(byId) };
  for (const [by, why] of passes) {
    for (const [bug, other] of matched(left.baseline, left.found, (a, b) => why(a, b) !== null))
      matches.push({ baseline: bug.id, found: other.id, by, detail: why(bug, other) ?? "" });
    left.baseline = left.baseline.filter(({ id }) => !matches.some((match) => match.baseline === id)); // B1
    left.found = left.found.filter(({ id }) => !matches.some((match) => match.found === id));
  }
  return {
    recall: baseline.length === 0 ? null : matches.length / baseline.length, // B3
    matches: matches.toSorted((a, b) => (a.baseline < b.baseline ? -1 : 1)),
    found: foundBugs.map(({ id }) => id),
    missed: baseline.map(({ id }) => id).filter((id) => !matches.some((match) => match.baseline === id)),
  };
}

const byId = (a: Bug, b: Bug): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** B2: each pass says why two bugs are one, or null. */
const passes: readonly (readonly [MatchReason, (baseline: Bug, found: Bug) => string | null])[] = [
  ["id", (a, b) => (a.id === b.id && !(a.file !== null && b.file !== null && !isSameFile(a.file, b.file)) ? a.id : null)],
  [
    "place",
    (a, b) =>
      a.file !== null &&
      b.file !== null &&
      a.lines !== null &&
      b.lines !== null &&
      isSameFile(a.file, b.file) &&
      doOverlap(a.lines, b.lines)
        ? `${a.file}:${a.lines.join("-")} and ${b.file}:${b.lines.join("-")}`
        : null,
  ],
  ["title", (a, b) => (plainTitle(a.title) !== "" && plainTitle(a.title) === plainTitle(b.title) ? plainTitle(a.title) : null)],
];

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
function matched<One, Other>(
  ones: readonly One[],
  others: readonly Other[],
  isPair: (a: One, b: Other) => boolean,
): readonly (readonly [One, Other])[] {
  const holder = new Map<Other, One>();
  const place1 = (left: One, tried: Set<Other>): boolean => {
    for (const other of others) {
      if (tried.has(other) || !isPair(left, other)) continue;
      tried.add(other);
      const before = holder.get(other);
      if (before === undefined || place1(before, tried)) {
        holder.set(other, left);
        return true;
      }
    }
    return false;
  };
  for (const item of ones) place1(item, new Set());
  return [...holder].map(([other, left]) => [left, other]);
}
