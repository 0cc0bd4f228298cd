// recorded-snapshots: snapshots that the work recorded, though tests from before compare with them: the work then decides what is right. The
// snapshot is changed slightly; tests that notice are those that compare with it. Pure.

import type { Difference } from "../../../ports/workspace.ts";
import type { ProtectionRow } from "../../protected/kinds.ts";
import { isNameOfTest, type TestCase } from "../source/test-cases.ts";
import type { Observed } from "../flips/noticed-flips.ts";

const filesMax = 20;

/** Snapshots that are new or changed. */
export const changedSnapshots = (differences: readonly Difference[], rowOf: (path: string) => ProtectionRow | null): readonly string[] =>
  differences
    .filter(({ path, kind }) => kind !== "deleted" && rowOf(path)?.kind === "snapshot")
    .map(({ path }) => path)
    .slice(0, filesMax);

/** The same with every entry changed: its last letter or digit, in each entry that a runner distinguishes. */
export function alterSnapshot(text: string): string {
  const entries = [...text.matchAll(/(^exports\[[^\n]*\] = `)([^]*?)(`;$)/gm)];
  if (entries.length === 0) return alterLastLetter(text);
  return entries.reduceRight((done, { 0: all, 1: head = "", 2: inner = "", 3: end = "", index }) => {
    return `${done.slice(0, index)}${head}${alterLastLetter(inner)}${end}${done.slice(index + all.length)}`;
  }, text);
}

function alterLastLetter(text: string): string {
  const at = /[A-Za-z0-9](?=[^A-Za-z0-9]*$)/.exec(text)?.index;
  if (at === undefined) return `${text}x`;
  const letter = text[at] ?? "";
  const put = letter === "9" ? "8" : letter === "z" || letter === "Z" ? "a" : String.fromCharCode(letter.charCodeAt(0) + 1);
  return text.slice(0, at) + put + text.slice(at + 1);
}

/** Which of these tests have noticed. */
export const failedTests = (tests: readonly TestCase[], { failed }: Observed): readonly TestCase[] =>
  tests.filter((one) => [...failed].some((name) => isNameOfTest(name, one)));

const shownMax = 3;

export function describeSnapshots(paths: readonly string[], tests: readonly TestCase[]): string {
  const names = [...new Set(tests.map(({ name, path }) => `${name} (${path})`))];
  const more = names.length > shownMax ? ` and ${names.length - shownMax} more` : "";
  return `what tests that were there before expect was written down by the work (${paths.slice(0, shownMax).join(", ")}): ${names.slice(0, shownMax).join(", ")}${more}, so a person has to look at that`;
}
