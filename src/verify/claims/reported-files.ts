// reported-files: extracts claims about file positions that an agent names, and about files it says
// it changed.

import { findFilePositions, hostSuffix, pathPattern } from "./file-positions.ts";
import {
  toClaimText,
  type FileChangedClaim,
  type FileLineClaim,
  type ReportedClaim,
} from "./reported-claim.ts";

/** Words by which a sentence says that something is gone: "removed", "the old". */
const removalWord = /\b(?:remov|delet|replac|renam|drop|mov|rid of|former|old)\w*/i;

export function extractFileClaims(sentence: string, isHedged: boolean): readonly ReportedClaim[] {
  return [...extractPositionClaims(sentence), ...(isHedged ? [] : extractChangeClaims(sentence))];
}

export function extractPositionClaims(sentence: string): readonly FileLineClaim[] {
  return findFilePositions(sentence).map(({ path, lines, from, to }): FileLineClaim => {
    const name = findAdjacentName(sentence, from, to);
    const range = { firstLine: Math.min(...lines), line: Math.max(...lines) };
    return {
      kind: "file_line",
      text: toClaimText(sentence),
      path,
      ...range,
      name,
      isOfRemoval: removalWord.test(sentence),
    };
  });
}

/** An identifier in backticks directly before or after the position: it is claimed to be there. */
function findAdjacentName(sentence: string, from: number, to: number): string | null {
  const before = /`([A-Za-z_$][\w$]*)(?:\(\))?`[^`]{0,24}`?$/.exec(sentence.slice(0, from))?.[1];
  const after = /^`?[^`]{0,12}`([A-Za-z_$][\w$]*)(?:\(\))?`/.exec(sentence.slice(to))?.[1];
  return before ?? after ?? null;
}

/** "I've also updated", "Fixed". */
const changeVerb =
  /\b(?:I(?:'ve| have)?|we(?:'ve| have)?|^\W*)\s*(?:just |also |then |now )?(?:edited|changed|modified|updated|created|added|wrote|written|fixed|rewrote|refactored|implemented|deleted|removed)\b/i;

function extractChangeClaims(sentence: string): readonly FileChangedClaim[] {
  const verb = changeVerb.exec(sentence);
  if (verb === null) return [];

  // Only what follows the verb, up to a change of subject.
  const object = sentence
    .slice(verb.index + verb[0].length)
    .split(
      /\b(?:because|since|like|as in|based on|following|so that|which|used by|from|see)\b/i,
    )[0];
  const mentions = [
    ...(object ?? "").matchAll(
      new RegExp(`(?<![\\w/.@:-])\`?(${pathPattern})\`?(?![\\w/]|:\\d|#L)`, "g"),
    ),
  ];
  return mentions
    .filter(([, file = ""]) => !hostSuffix.test(file) && (file.includes("/") || /`/.test(sentence)))
    .map(([, file = ""]) => ({ kind: "file_changed", text: toClaimText(sentence), path: file }));
}
