// reported-files: extracts file positions that an agent names, and files it says it changed.

import { filePositions, hostSuffix, pathPattern } from "./file-positions.ts";
import { claimText, type FileChangedClaim, type FileLineClaim, type ReportedClaim } from "./said-claim.ts";

const removal = /\b(?:remov|delet|replac|renam|drop|mov|rid of|former|old)\w*/i;

export function fileClaims(sentence: string, isHedged: boolean): readonly ReportedClaim[] {
  return [...positionClaims(sentence), ...(isHedged ? [] : changeClaims(sentence))];
}

export function positionClaims(sentence: string): readonly FileLineClaim[] {
  return filePositions(sentence).map(({ path, lines, from, to }): FileLineClaim => {
    const name = adjacentName(sentence, from, to);
    const range = { firstLine: Math.min(...lines), line: Math.max(...lines) };
    return { kind: "file_line", text: claimText(sentence), path, ...range, name, isOfRemoval: removal.test(sentence) };
  });
}

/** An identifier in backticks directly before or after the position: it is claimed to be there. */
function adjacentName(sentence: string, from: number, to: number): string | null {
  const before = /`([A-Za-z_$][\w$]*)(?:\(\))?`[^`]{0,24}`?$/.exec(sentence.slice(0, from))?.[1];
  const after = /^`?[^`]{0,12}`([A-Za-z_$][\w$]*)(?:\(\))?`/.exec(sentence.slice(to))?.[1];
  return before ?? after ?? null;
}

const changeVerb =
  /\b(?:I(?:'ve| have)?|we(?:'ve| have)?|^\W*)\s*(?:just |also |then |now )?(?:edited|changed|modified|updated|created|added|wrote|written|fixed|rewrote|refactored|implemented|deleted|removed)\b/i;

function changeClaims(sentence: string): readonly FileChangedClaim[] {
  const verb = changeVerb.exec(sentence);
  if (verb === null) return [];
  // Only what follows the verb, up to a change of subject.
  const object = sentence
    .slice(verb.index + verb[0].length)
    .split(/\b(?:because|since|like|as in|based on|following|so that|which|used by|from|see)\b/i)[0];
  const mentions = [...(object ?? "").matchAll(new RegExp(`(?<![\\w/.@:-])\`?(${pathPattern})\`?(?![\\w/]|:\\d|#L)`, "g"))];
  return mentions
    .filter(([, file = ""]) => !hostSuffix.test(file) && (file.includes("/") || /`/.test(sentence)))
    .map(([, file = ""]) => ({ kind: "file_changed", text: claimText(sentence), path: file }));
}
