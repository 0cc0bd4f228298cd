// count-in-documents: counts bugs, findings, patterns and ids in the documents of a quality run. Pure.

/** The pattern of an id: BUG-001, BUG-H-1. Groups of letters may come before its last part. */
const familyId = (family: string): string => `${family}-(?:[A-Za-z][A-Za-z-]*-)?[A-Za-z0-9]+`;

/** The confirmed bugs of BUGS.md, one heading each, in the order they are there. */
export const findBugIds = (bugs: string | null): readonly string[] =>
  [...(bugs ?? "").matchAll(new RegExp(`^### (${familyId("BUG")})`, "gm"))].map(
    ([, id = ""]) => id,
  );

/** Every bug heading, also one whose id cannot be a file name. */
export const countBugHeadings = (bugs: string | null): number =>
  [...(bugs ?? "").matchAll(/^### BUG-/gm)].length;

const openFindingsHeading = /^##\s+Open Exploration Findings\b/;
const findingHeading = /^##\s+(?:Finding\b|\d+\.)/;

/**
 * The findings of EXPLORATION.md: one per section, or the entries under the heading "Open
 * Exploration Findings".
 */
export function countFindings(exploration: string | null): number {
  const sections = (exploration ?? "").split(/^(?=##\s)/m);
  return sections.reduce((sum, section) => sum + findingsInSection(section), 0);
}

function findingsInSection(section: string): number {
  if (findingHeading.test(section)) return 1;
  return openFindingsHeading.test(section) ? countEntries(section) : 0;
}

/** The entries of a section: its subheadings, or its list items if it has no subheadings. */
function countEntries(section: string): number {
  const subheadings = [...section.matchAll(/^###\s+\S/gm)].length;
  return subheadings > 0 ? subheadings : [...section.matchAll(/^(?:[-*]|\d+[.)])\s+\S/gm)].length;
}

/** Whether EXPLORATION.md mentions a pattern by its number. */
export const mentionsPattern = (exploration: string | null, pattern: number): boolean =>
  new RegExp(`\\bpattern\\s{0,9}#?\\s{0,9}${pattern}\\b`, "i").test(exploration ?? "");

/**
 * Counts the ids of one family (REQ, UC): those in headings; without any, those at the start of a
 * line, item or cell.
 */
export function countIds(document: string | null, family: string): number {
  const countDistinct = (pattern: RegExp): number =>
    new Set([...(document ?? "").matchAll(pattern)].map(([, id]) => id)).size;
  const inHeadings = countDistinct(new RegExp(`^#{1,6}\\s.*?\\b(${familyId(family)})`, "gm"));
  return inHeadings > 0
    ? inHeadings
    : countDistinct(new RegExp(`^[ \\t>|*\\-\\d.]*(${familyId(family)})`, "gm"));
}

/** Whether a document contains an id as a whole word: BUG-10 does not contain BUG-1. */
export function mentionsId(document: string | null, id: string): boolean {
  if (document === null || id.trim() === "") return false;
  for (let index = document.indexOf(id); index !== -1; index = document.indexOf(id, index + 1)) {
    const isWord = (letter: string | undefined): boolean =>
      letter !== undefined && /[A-Za-z0-9_]/.test(letter);
    if (!isWord(document[index - 1]) && !isWord(document[index + id.length])) return true;
  }

  return false;
}
