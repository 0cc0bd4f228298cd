// left-alone: finds what the goal says is to stay as it is: "vendor/ is a mirror, so it stays
// untouched", "don't touch src/api.ts". Pure. A list, by words: what it misreads is a gap too many or
// one too few; a scope keeps files from being changed.

import { namesPath } from "./asked-changes.ts";

/** `don't touch PATH and PATH`, `without changing PATH`. */
const forbidden =
  /\b(?:(?:don't|do not|never|must not|may not|not to|please no(?:t|t to)?)\s+(?:alter|change|edit|modify|touch)|without\s+(?:altering|changing|editing|modifying|touching))\s+([^,;:]*)/gi;
/** `leave PATH alone`, `keep PATH as it is`. */
const left =
  /\b(?:leav|keep)(?:e|ing)?\s+([^,;:]*?)\s+(?:alone|as (?:it|they|is)\b|intact|unchanged|untouched)/gi;
/** `PATH …, so it stays as it is`, `PATH must not be changed`. */
const stays =
  /^(.*?)\b(?:(?:stays?|remains?|must (?:stay|remain))\s+(?:as (?:it|they)\b|the same|unchanged|untouched)|(?:must|may|should|shall) not be (?:altered|changed|edited|modified|touched))/i;

/** Whether a sentence of the goal says that a file, or a folder around it, is to stay as it is. */
export const isToStay = (path: string, goal: string): boolean =>
  splitClauses(goal).some((clause) => listKept(clause).some((words) => namesPath(words, path)));

/** Up to a full stop, a colon or a semicolon, and not beyond a "but". */
const splitClauses = (text: string): readonly string[] => text.split(/[.!?;:](?:\s|$)|\n|\bbut\b/i);

/** The words among which the paths stand; of a sentence that begins with one, that alone. */
function listKept(clause: string): readonly string[] {
  const spans = [...clause.matchAll(forbidden), ...clause.matchAll(left)].map(
    ([, words = ""]) =>
      words.split(/\b(?:and|then) (?:add|change|do|let|make|move|update|use|write)\b/i)[0] ?? "",
  );
  const subject = findSubject(stays.exec(clause)?.[1] ?? "");
  const first = subject.split(/\s+/).find((word) => /[\w-]\/|\w\.\w/.test(word));
  return first === undefined ? spans : [...spans, first];
}

/** What stays: behind the last comma, if that is more than a word for what stands before it. */
function findSubject(words: string): string {
  const last = words.slice(words.lastIndexOf(",") + 1).trim();
  return last === "" || pronoun.test(last) ? words : last;
}
const pronoun = /^(?:(?:so|and|but|as)\s+)?(?:it|they|that|this|which|these|those|both|all)$/i;
