// gate-file: judges one path by a gate's rules about a file: exists, non_empty, min_lines, matches,
// fresh, after. Pure.

import type { Gate } from "../../contracts/flow.ts";
import type { FilePair, GateFinding, GateFacts } from "./gate-facts.ts";
import type { Text } from "./tree-facts.ts";

/**
 * `undecidedPairs`: files whose order only the history can decide; the caller looks it up and
 * judges again.
 */
export type FileJudgement = {
  readonly failures: readonly GateFinding[];
  readonly undecidedPairs: readonly FilePair[];
};

export function judgeFile(path: string, gate: Gate, facts: GateFacts): FileJudgement {
  const failures: GateFinding[] = [];
  const add = (fault: Fault | null): void => {
    if (fault !== null) failures.push({ file: path, isUnsure: false, ...fault });
  };

  const existenceFault = judgeExistence(path, gate.exists !== false, facts);
  if (existenceFault !== null || gate.exists === false) {
    add(existenceFault);
    return { failures, undecidedPairs: [] };
  }

  if (gate.non_empty === true && facts.files.get(path)?.size === 0) {
    add({ rule: "non_empty", found: "0 bytes", expected: "at least 1 byte" });
  }

  if (gate.min_lines !== undefined) add(judgeLines(gate.min_lines, facts.read(path)));
  if (gate.matches !== undefined) add(judgeMatches(gate.matches, facts.read(path), facts));
  if (gate.fresh === true && !facts.changed.has(path)) {
    add({ rule: "fresh", found: "not changed by this visit", expected: "changed by this visit" });
  }

  if (gate.after === undefined) return { failures, undecidedPairs: [] };
  const isNewer = lookUpOrder(path, gate.after, facts);
  if (isNewer === undefined) return { failures, undecidedPairs: [[path, gate.after]] };
  if (isNewer !== true) add(toOrderFault(isNewer, gate.after));

  return { failures, undecidedPairs: [] };
}

type Fault = {
  readonly rule: string;
  readonly found: string;
  readonly expected: string;
  readonly isUnsure?: boolean;
};

const kindLabels = {
  file: "a regular file",
  link: "a symbolic link",
  folder: "a folder",
  other: "a special file",
} as const;

function judgeExistence(path: string, shouldExist: boolean, facts: GateFacts): Fault | null {
  const entry = facts.files.get(path);
  const expected = shouldExist ? "a regular file, reached without a link" : "nothing there";

  if (entry === undefined && !facts.isWhole) {
    return { rule: "exists", found: "a tree too large to list", expected, isUnsure: true };
  }

  // If nothing may exist there, a link or a folder fails too.
  const isAsExpected = shouldExist ? entry?.kind === "file" : entry === undefined;
  if (isAsExpected) return null;
  return {
    rule: "exists",
    found: entry === undefined ? describeAbsence(path, facts) : kindLabels[entry.kind],
    expected,
  };
}

/** That the path does not exist, and why, if a parent isn't a folder. */
function describeAbsence(path: string, { files }: GateFacts): string {
  const parts = path.split("/");
  const parents = parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join("/"));
  const blocker = parents.find((parent) => (files.get(parent)?.kind ?? "folder") !== "folder");
  const kind = blocker === undefined ? undefined : files.get(blocker)?.kind;

  return blocker === undefined || kind === undefined
    ? "nothing there"
    : `nothing there: ${blocker} is ${kindLabels[kind]}`;
}

function judgeLines(atLeast: number, text: Text | null): Fault | null {
  const expected = `at least ${atLeast}`;
  const unreadable = whyUnreadable(text);
  if (text === null || unreadable !== null) {
    return { rule: "min_lines", found: unreadable ?? "nothing", expected, isUnsure: true };
  }

  const lines = countLines(text.text);
  if (lines >= atLeast) return null;
  const noun = lines === 1 ? "line" : "lines";

  return {
    rule: "min_lines",
    found: `${lines} ${noun}${describeBound(text)}`,
    expected,
    isUnsure: !text.isWhole,
  };
}

/**
 * Lines as people count them: a last one without a line break counts, the empty rest after the last
 * line break does not.
 */
export function countLines(text: string): number {
  if (text === "") return 0;
  let breaks = 0;

  for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) {
    breaks++;
  }

  return text.endsWith("\n") ? breaks : breaks + 1;
}

function judgeMatches(pattern: string, text: Text | null, { match }: GateFacts): Fault | null {
  const expected = `a match of /${pattern}/m`;
  const unreadable = whyUnreadable(text);
  if (text === null || unreadable !== null) {
    return { rule: "matches", found: unreadable ?? "nothing", expected, isUnsure: true };
  }

  const matches = match(pattern, text.text, 1);
  if (!matches.ok) return { rule: "matches", found: matches.why, expected, isUnsure: true };
  return matches.groups.length > 0
    ? null
    : {
        rule: "matches",
        found: `no match${describeBound(text)}`,
        expected,
        isUnsure: !text.isWhole,
      };
}

/** Why a listed file has no readable text; null if it has. */
export const whyUnreadable = (text: Text | null): string | null =>
  text === null ? "a file that cannot be read" : (text.fault ?? null);

/** For a text that was read in part: 1 MiB is `textBytesMax` of tree-facts.ts. */
function describeBound(text: Text): string {
  return text.isWhole ? "" : " in the first 1 MiB";
}

/**
 * Whether a file is later than another: null if that can't be known, undefined if the history has
 * not been asked yet. A file that this visit changed is later than one it did not change. If the
 * other file does not exist, the rule holds.
 */
function lookUpOrder(path: string, than: string, facts: GateFacts): boolean | null | undefined {
  if (facts.files.get(than)?.kind !== "file") return facts.isWhole ? true : null;
  if (facts.changed.has(path) && !facts.changed.has(than)) return true;
  return facts.isNewer(path, than);
}

function toOrderFault(isNewer: false | null, than: string): Fault {
  const expected = `changed in a later commit than ${than}`;
  return {
    rule: "after",
    found: isNewer === null ? "an order the history cannot tell" : "not changed since",
    expected,
    isUnsure: isNewer === null,
  };
}
