// bugs: parses the bugs of a BUGS.md, and matches those a run found with a baseline's, with the
// reason of every match.
//
// Invariants:
//   B1. One found bug matches at most one of the baseline, and the reverse; the order in a file
//       does not matter.
//   B2. Ids come first, then file and lines, then titles. An id alone does not match two bugs that
//       name different files: each run numbers its own bugs.
//   B3. A baseline without bugs has no recall: null, never one or zero.

export type Bug = {
  readonly id: string;
  readonly title: string;
  readonly file: string | null;
  readonly lines: readonly [number, number] | null;
};
export type BugMatchReason = "id" | "place" | "title";
/**
 * A bug of the baseline and the found bug that it is, by their ids; `detail`: what they have in
 * common. As in the log.
 */
export type BugMatch = {
  readonly baseline: string;
  readonly found: string;
  readonly by: BugMatchReason;
  readonly detail: string;
};
export type Recall = {
  /** The share of the baseline's bugs that were found; null without any (B3). */
  readonly recall: number | null;
  readonly matches: readonly BugMatch[];
  /** Of all bugs that the run found, matched or not. */
  readonly foundIds: readonly string[];
  /** Of the baseline's bugs that it did not find. */
  readonly missedIds: readonly string[];
};

/** `### BUG-001: the title` */
const headingPattern =
  /^ {0,3}#{2,4}[ \t]+(BUG-(?:[A-Za-z][A-Za-z-]{0,40}-)?[A-Za-z0-9]{1,40})\b[ \t]*[:.—–-]*[ \t]*(.*)$/;
/** `src/a.ts:12`, `src/a.ts:12-20` */
const placePattern =
  /(?:^|[\s`"'(])((?:[\w.@+-]+\/)*[\w.@+-]+\.[A-Za-z]\w{0,9}):(\d{1,7})(?:\s?[-–]\s?L?(\d{1,7}))?/;
/** `**File:** src/a.ts` */
const fileFieldPattern =
  /\*{0,2}(?:File|Location|Path)s?\*{0,2}:\*{0,2}[ \t]*`?((?:[\w.@+-]+\/)*[\w.@+-]+\.\w{1,10})`?/i;
/** `**Lines:** 12-20` */
const linesFieldPattern =
  /\*{0,2}Lines?\*{0,2}:\*{0,2}[ \t]*`?L?(\d{1,7})(?:\s?[-–]\s?L?(\d{1,7}))?/i;

/** Every bug with its own heading, outside code fences; of a duplicate id the first. */
export function parseBugs(text: string): readonly Bug[] {
  const bugs = new Map<string, Bug>();
  let openSection: { readonly id: string; readonly title: string; readonly body: string[] } | null =
    null;

  const closeSection = (): void => {
    if (openSection === null || bugs.has(openSection.id)) return;
    const { id, title, body } = openSection;
    bugs.set(id, { id, title, ...findPlace([title, ...body]) });
  };

  let openFence: string | null = null;
  for (const line of text.split(/\r?\n/)) {
    const fenceMark = /^ {0,3}(```+|~~~+)/.exec(line)?.[1] ?? null;
    if (fenceMark !== null && openFence === null) {
      openFence = fenceMark;
    } else if (fenceMark !== null && openFence !== null && fenceMark.startsWith(openFence)) {
      openFence = null;
    }

    const [, id, title = ""] = (openFence === null ? headingPattern.exec(line) : null) ?? [];
    if (id !== undefined) {
      closeSection();
      openSection = { id, title: title.trim(), body: [] };
    } else if (openSection !== null && openFence === null && /^ {0,3}#{1,2}[ \t]/.test(line)) {
      closeSection(); // another chapter
      openSection = null;
    } else {
      openSection?.body.push(line);
    }
  }

  closeSection();
  return [...bugs.values()];
}

/** The file and lines that a bug names first as `file:line`; else those of its fields. */
function findPlace(lines: readonly string[]): Pick<Bug, "file" | "lines"> {
  for (const line of lines) {
    const [, file, from, to] = placePattern.exec(line) ?? [];
    if (file !== undefined) return { file, lines: parseLineRange(from, to) };
  }

  const findFirst = (pattern: RegExp): RegExpExecArray | null =>
    lines.reduce<RegExpExecArray | null>((match, line) => match ?? pattern.exec(line), null);
  const file = findFirst(fileFieldPattern)?.[1] ?? null;
  const [, from, to] = findFirst(linesFieldPattern) ?? [];

  return { file, lines: file === null || from === undefined ? null : parseLineRange(from, to) };
}

function parseLineRange(
  from: string | undefined,
  to: string | undefined,
): readonly [number, number] {
  const [first, last] = [Number(from), Number(to ?? from)];
  return [Math.min(first, last), Math.max(first, last)];
}

/** Which bugs of a baseline a run found again. */
export function measureRecall(baseline: readonly Bug[], foundBugs: readonly Bug[]): Recall {
  const matches: BugMatch[] = [];
  const unmatched = {
    baseline: [...baseline].toSorted(compareIds),
    found: [...foundBugs].toSorted(compareIds),
  };

  for (const [by, describeMatch] of matchPasses) {
    for (const [knownBug, foundBug] of pairUp(
      unmatched.baseline,
      unmatched.found,
      (a, b) => describeMatch(a, b) !== null,
    )) {
      matches.push({
        baseline: knownBug.id,
        found: foundBug.id,
        by,
        detail: describeMatch(knownBug, foundBug) ?? "",
      });
    }

    unmatched.baseline = unmatched.baseline.filter(
      ({ id }) => !matches.some((match) => match.baseline === id),
    ); // B1

    unmatched.found = unmatched.found.filter(
      ({ id }) => !matches.some((match) => match.found === id),
    );
  }

  return {
    recall: baseline.length === 0 ? null : matches.length / baseline.length, // B3
    matches: matches.toSorted((a, b) => (a.baseline < b.baseline ? -1 : 1)),
    foundIds: foundBugs.map(({ id }) => id),
    missedIds: baseline
      .map(({ id }) => id)
      .filter((id) => !matches.some((match) => match.baseline === id)),
  };
}

function compareIds(a: Bug, b: Bug): number {
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}

/** Each pass says what two bugs have in common that makes them one, or null; B2 is their order. */
const matchPasses: readonly (readonly [
  BugMatchReason,
  (baseline: Bug, found: Bug) => string | null,
])[] = [
  ["id", matchById],
  ["place", matchByPlace],
  ["title", matchByTitle],
];

function matchById(a: Bug, b: Bug): string | null {
  const mayBeSameFile = a.file === null || b.file === null || isSameFile(a.file, b.file); // B2
  return a.id === b.id && mayBeSameFile ? a.id : null;
}

function matchByPlace(a: Bug, b: Bug): string | null {
  if (a.file === null || b.file === null || a.lines === null || b.lines === null) return null;
  if (!isSameFile(a.file, b.file) || !doOverlap(a.lines, b.lines)) return null;
  return `${a.file}:${a.lines.join("-")} and ${b.file}:${b.lines.join("-")}`;
}

function matchByTitle(a: Bug, b: Bug): string | null {
  const title = normalizeTitle(a.title);
  return title !== "" && title === normalizeTitle(b.title) ? title : null;
}

/** The same path, or one that ends with the other: `driver.c` and `src/driver.c`. */
function isSameFile(first: string, second: string): boolean {
  const [a = "", b = ""] = [first, second].map((path) => path.replace(/^\.\//, ""));
  return a === b || a.endsWith(`/${b}`) || b.endsWith(`/${a}`);
}

const doOverlap = (a: readonly [number, number], b: readonly [number, number]): boolean =>
  a[0] <= b[1] && b[0] <= a[1];

/** A title without case and punctuation. */
export const normalizeTitle = (title: string): string =>
  title
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}]+/gu, " ")
    .trim();

/**
 * As many pairs as there can be (Kuhn's augmenting paths), so that no order of the files costs a
 * match. B1
 */
function pairUp<Left, Right>(
  lefts: readonly Left[],
  rights: readonly Right[],
  isPair: (left: Left, right: Right) => boolean,
): readonly (readonly [Left, Right])[] {
  const partners = new Map<Right, Left>();
  /** Gives `left` a partner, if need be one whose own partner can take another. */
  const findPartner = (left: Left, triedRights: Set<Right>): boolean => {
    for (const right of rights) {
      if (triedRights.has(right) || !isPair(left, right)) continue;
      triedRights.add(right);
      const currentPartner = partners.get(right);
      if (currentPartner === undefined || findPartner(currentPartner, triedRights)) {
        partners.set(right, left);
        return true;
      }
    }

    return false;
  };
  for (const left of lefts) findPartner(left, new Set());

  return [...partners].map(([right, left]) => [left, right]);
}
