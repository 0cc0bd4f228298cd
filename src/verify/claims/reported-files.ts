// reported-files: extracts file positions that an agent names, and files it says it changed.

import { claimText, type FileChangedClaim, type FileLineClaim, type ReportedClaim } from "./said-claim.ts";

const pathPattern = "(?:\\.{0,2}/)?(?:[\\w@.-]+/){0,20}[\\w@-][\\w@.-]{0,120}\\.[A-Za-z]\\w{0,9}";
const positionPattern = new RegExp(
  `(?<![\\w/.@:-])(${pathPattern})(?::(\\d{1,7})|#L(\\d{1,7})|,? (?:on |at )?line (\\d{1,7}))(?![\\w/])`,
  "g",
);
const lineFirstPattern = new RegExp(`\\bline (\\d{1,7})(?: of| in)? \`?(${pathPattern})\`?(?![\\w/])`, "g");
const removal = /\b(?:remov|delet|replac|renam|drop|mov|rid of|former|old)\w*/i;
const hostSuffix = /\.(?:com|org|net|io|dev|local|internal|invalid|example|localhost)$/i;

export function fileClaims(sentence: string, isHedged: boolean): readonly ReportedClaim[] {
  return [...positionClaims(sentence), ...(isHedged ? [] : changeClaims(sentence))];
}

export function positionClaims(sentence: string): readonly FileLineClaim[] {
  const positions = [
    ...[...sentence.matchAll(positionPattern)].map((match) => ({ match, path: match[1], line: match[2] ?? match[3] ?? match[4] })),
    ...[...sentence.matchAll(lineFirstPattern)].map((match) => ({ match, path: match[2], line: match[1] })),
  ];
  return positions.flatMap(({ match, path: file = "", line }): FileLineClaim[] => {
    if (hostSuffix.test(file) || sentence.slice(0, match.index).endsWith("//")) return []; // a port of a host, not a line of a file
    const name = adjacentName(sentence, match.index, match.index + match[0].length);
    const isOfRemoval = removal.test(sentence);
    return [{ kind: "file_line", text: claimText(sentence), path: file, line: Number(line), name, isOfRemoval }];
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
