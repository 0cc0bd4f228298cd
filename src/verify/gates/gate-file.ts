// gate-file: judges one path by the gate words about a file. Pure.

import type { Gate } from "../../contracts/flow.ts";
import type { FilePair, Finding, GateFacts } from "./gate-facts.ts";
import type { Text } from "./tree-facts.ts";

export type FileJudgement = { readonly failures: readonly Finding[]; readonly lacking: readonly FilePair[] };

/** One path against exists, non_empty, min_lines, matches, fresh, after. */
export function judgeFile(path: string, gate: Gate, facts: GateFacts): FileJudgement {
  const failures: Finding[] = [];
  const add = (found: Fault | null): unknown => found !== null && failures.push({ file: path, isUnsure: false, ...found });
  const missing = judgeExistence(path, gate.exists !== false, facts);
  if (missing !== null || gate.exists === false) {
    add(missing);
    return { failures, lacking: [] };
  }
  if (gate.non_empty === true && facts.files.get(path)?.size === 0)
    add({ rule: "non_empty", found: "0 bytes", expected: "at least 1 byte" });
  if (gate.min_lines !== undefined) add(judgeLines(gate.min_lines, facts.read(path)));
  if (gate.matches !== undefined) add(judgeMatches(gate.matches, facts.read(path), facts));
  if (gate.fresh === true && !facts.changed.has(path))
    add({ rule: "fresh", found: "not changed by this visit", expected: "changed by this visit" });
  if (gate.after === undefined) return { failures, lacking: [] };
  const newer = newerOf(path, gate.after, facts);
  if (newer === undefined) return { failures, lacking: [[path, gate.after]] };
  if (newer !== true) add(notLater(newer, gate.after));
  return { failures, lacking: [] };
}

type Fault = { readonly rule: string; readonly found: string; readonly expected: string; readonly isUnsure?: boolean };

const kindLabels = { file: "a regular file", link: "a symbolic link", folder: "a folder", other: "a special file" } as const;

function judgeExistence(path: string, shouldExist: boolean, facts: GateFacts): Fault | null {
  const entry = facts.files.get(path);
  const expected = shouldExist ? "a regular file, reached without a link" : "nothing there";
  if (entry === undefined && !facts.isWhole) return { rule: "exists", found: "a tree too large to list", expected, isUnsure: true };
  // If nothing may exist there, anything fails: a link does not pass for nothing.
  const holds = shouldExist ? entry?.kind === "file" : entry === undefined;
  return holds ? null : { rule: "exists", found: entry === undefined ? absence(path, facts) : kindLabels[entry.kind], expected };
}

/** The path does not exist; if a parent isn't a folder, that is why. */
function absence(path: string, { files }: GateFacts): string {
  const parts = path.split("/");
  const onTheWay = parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join("/"));
  const bar = onTheWay.find((one) => (files.get(one)?.kind ?? "folder") !== "folder");
  const kind = bar === undefined ? undefined : files.get(bar)?.kind;
  return bar === undefined || kind === undefined ? "nothing there" : `nothing there: ${bar} is ${kindLabels[kind]}`;
}

function judgeLines(atLeast: number, text: Text | null): Fault | null {
  const expected = `at least ${atLeast}`;
  const unreadable = faultOf(text);
  if (text === null || unreadable !== null) return { rule: "min_lines", found: unreadable ?? "nothing", expected, isUnsure: true };
  const lines = linesOf(text.text);
  if (lines >= atLeast) return null;
  return { rule: "min_lines", found: `${lines} ${lines === 1 ? "line" : "lines"}${bounded(text)}`, expected, isUnsure: !text.isWhole };
}

/** Lines as people count them: a last one without a line break counts, the empty rest after the last line break does not. */
export function linesOf(text: string): number {
  if (text === "") return 0;
  let breaks = 0;
  for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) breaks++;
  return text.endsWith("\n") ? breaks : breaks + 1;
}

function judgeMatches(pattern: string, text: Text | null, { match }: GateFacts): Fault | null {
  const expected = `a match of /${pattern}/m`;
  const unreadable = faultOf(text);
  if (text === null || unreadable !== null) return { rule: "matches", found: unreadable ?? "nothing", expected, isUnsure: true };
  const found = match(pattern, text.text, 1);
  if (!found.ok) return { rule: "matches", found: found.why, expected, isUnsure: true };
  return found.groups.length > 0 ? null : { rule: "matches", found: `no match${bounded(text)}`, expected, isUnsure: !text.isWhole };
}

/** Why a listed file has no readable text; null if it has. */
export const faultOf = (text: Text | null): string | null => (text === null ? "a file that cannot be read" : (text.fault ?? null));

function bounded(text: Text): string {
  return text.isWhole ? "" : " in the first 1 MiB";
}

/**
 * A file this visit changed is later than one it did not; otherwise only history can decide. Without a file there is nothing to be later
 * than.
 */
function newerOf(path: string, than: string, facts: GateFacts): boolean | null | undefined {
  if (facts.files.get(than)?.kind !== "file") return facts.isWhole ? true : null;
  if (facts.changed.has(path) && !facts.changed.has(than)) return true;
  return facts.newer(path, than);
}

function notLater(newer: false | null, than: string): Fault {
  const expected = `changed in a later commit than ${than}`;
  return {
    rule: "after",
    found: newer === null ? "an order the history cannot tell" : "not changed since",
    expected,
    isUnsure: newer === null,
  };
}
