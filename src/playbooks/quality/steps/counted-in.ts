// counted-in: what the documents of a quality run hold, counted. Texts in, numbers and names out.

/** An id of a family: BUG-001, BUG-H-1. Words of letters may be before what ends it; what comes after that isn't a part of it. */
const familyId = (family: string): string => `${family}-(?:[A-Za-z][A-Za-z-]*-)?[A-Za-z0-9]+`;

/** The confirmed bugs of BUGS.md, one heading each, in the order they are there. */
export const findBugIds = (bugs: string | null): readonly string[] =>
  [...(bugs ?? "").matchAll(new RegExp(`^### (${familyId("BUG")})`, "gm"))].map(([, id = ""]) => id);

/** Every bug heading, also one whose id cannot be a file name. */
export const countBugHeadings = (bugs: string | null): number => [...(bugs ?? "").matchAll(/^### BUG-/gm)].length;

const openFindings = /^##\s+Open Exploration Findings\b/;
const finding = /^##\s+(?:Finding\b|\d+\.)/;

/** The findings of EXPLORATION.md: a section each, or the entries under the one heading that gathers them. */
export function countFindings(exploration: string | null): number {
  const sections = (exploration ?? "").split(/^(?=##\s)/m);
  return sections.reduce((sum, section) => sum + (finding.test(section) ? 1 : openFindings.test(section) ? countEntries(section) : 0), 0);
}

/** Under a gathering heading an entry is a heading below it; if there is none, an item of its lists. */
function countEntries(section: string): number {
  const below = [...section.matchAll(/^###\s+\S/gm)].length;
  return below > 0 ? below : [...section.matchAll(/^(?:[-*]|\d+[.)])\s+\S/gm)].length;
}

/** Whether EXPLORATION.md speaks of a pattern by its number. */
export const namesPattern = (exploration: string | null, pattern: number): boolean =>
  new RegExp(`\\bpattern\\s{0,9}#?\\s{0,9}${pattern}\\b`, "i").test(exploration ?? "");

/** The ids of one family (REQ, UC): those of headings, and where no heading has one, those that begin a line, an item or a cell. */
export function countIds(document: string | null, family: string): number {
  const distinct = (pattern: RegExp): number => new Set([...(document ?? "").matchAll(pattern)].map(([, id]) => id)).size;
  const inHeadings = distinct(new RegExp(`^#{1,6}\\s.*?\\b(${familyId(family)})`, "gm"));
  return inHeadings > 0 ? inHeadings : distinct(new RegExp(`^[ \\t>|*\\-\\d.]*(${familyId(family)})`, "gm"));
}

/** Whether a document names an id, as its own word: BUG-1 is not named by BUG-10. */
export function names(document: string | null, id: string): boolean {
  if (document === null || id.trim() === "") return false;
  for (let index = document.indexOf(id); index !== -1; index = document.indexOf(id, index + 1)) {
    const isWord = (letter: string | undefined): boolean => letter !== undefined && /[A-Za-z0-9_]/.test(letter);
    if (!isWord(document[index - 1]) && !isWord(document[index + id.length])) return true;
  }
  return false;
}
