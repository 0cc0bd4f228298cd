// recorded-snapshots: finds snapshots that the work recorded and that tests compare with: then the
// work, or its code, decides what is right. A snapshot is changed slightly; tests that fail then
// compare with it. Pure, except for the question.

import { listSome } from "../../../kit/list-some.ts";
import type { Difference } from "../../../ports/workspace.ts";
import type { ProtectionRow } from "../../protected/rows/protection-row.ts";
import { findFunctions, removeSpace } from "../source-text/definitions.ts";
import { isNameOfTest, type TestCase, findTestCases } from "../source-text/test-cases.ts";
import type { Observed } from "../broken-expectations/noticed-flips.ts";
import type { Edit } from "../lab.ts";
import { readAllTests, type QuestionContext, readSources, readTests } from "./question-context.ts";

const filesMax = 20;

/** Snapshots that are new or changed. */
export const findChangedSnapshots = (
  differences: readonly Difference[],
  rowOf: (path: string) => ProtectionRow | null,
): readonly string[] =>
  differences
    .filter(({ path, kind }) => kind !== "deleted" && rowOf(path)?.kind === "snapshot")
    .map(({ path }) => path)
    .slice(0, filesMax);

/** The snapshot with the last letter or digit of each entry changed. */
export function alterSnapshot(text: string): string {
  const entry = /(^exports\[[^\n]*\] = `)([^]*?)(`;$)/gm;
  if (text.search(entry) === -1) return alterLastLetter(text);

  return text.replaceAll(
    entry,
    (_entry, head: string, value: string, end: string) => head + alterLastLetter(value) + end,
  );
}

function alterLastLetter(text: string): string {
  const index = /[A-Za-z0-9](?=[^A-Za-z0-9]*$)/.exec(text)?.index;
  if (index === undefined) return `${text}x`;
  return text.slice(0, index) + toOtherCharacter(text[index] ?? "") + text.slice(index + 1);
}

/** The next letter or digit; behind the last there is none of its kind. */
function toOtherCharacter(character: string): string {
  if (character === "9") return "8";
  if (character === "z" || character === "Z") return "a";
  return String.fromCharCode(character.charCodeAt(0) + 1);
}

/** Which of these tests failed in a run. */
export const filterFailedTests = (
  tests: readonly TestCase[],
  { failed }: Observed,
): readonly TestCase[] =>
  tests.filter((test) => [...failed].some((name) => isNameOfTest(name, test)));

type Source = { readonly path: string; readonly was: string | null; readonly is: string };

/**
 * Whether all changed functions that the recording tests name are named by older tests as well,
 * which failed before the work: those say what is right, and the records only say it more often.
 */
export function areAskedElsewhere(
  recording: readonly TestCase[],
  earlier: readonly TestCase[],
  { before, sources }: { readonly before: Observed | null; readonly sources: readonly Source[] },
): boolean {
  const older = before === null ? [] : filterFailedTests(earlier, before);
  const changed = sources.flatMap(({ path, was, is }) => {
    const texts = new Set(findFunctions(path, was ?? "").map(({ text }) => removeSpace(text)));
    return findFunctions(path, is)
      .filter(({ text }) => !texts.has(removeSpace(text)))
      .map(({ name }) => name);
  });
  const namedBy = (tests: readonly TestCase[]): readonly string[] =>
    changed.filter((name) => tests.some(({ text }) => listWords(text).includes(name)));
  const [recorded, asked] = [namedBy(recording), namedBy(older)];

  return recorded.length > 0 && recorded.every((name) => asked.includes(name));
}

const listWords = (text: string): readonly string[] => text.match(/[\w$]+/g) ?? [];

export const describeSnapshots = (paths: readonly string[], tests: readonly TestCase[]): string =>
  `what tests that were there before expect was written down by the work (${listSome(paths)}): ${listTests(tests)}, so a person has to look at that`;

/** A snapshot is whatever the code answered when it was recorded. */
export const describeOwnSnapshots = (
  paths: readonly string[],
  tests: readonly TestCase[],
): string =>
  `new tests expect what the code itself answered when the work recorded it (${listSome(paths)}): ${listTests(tests)}, so read that`;

const listTests = (tests: readonly TestCase[]): string =>
  listSome([...new Set(tests.map(({ name, path }) => `${name} (${path})`))]);

export async function findRecordedSnapshots(context: QuestionContext): Promise<string | null> {
  const { textAt } = context.lab;
  const paths = findChangedSnapshots(context.differences, context.rules.rowOf);
  const edits: Edit[] = [];

  for (const path of paths) {
    const text = await textAt("work", path);
    if (text !== null && text !== (await textAt("base", path))) {
      edits.push({ path, text: alterSnapshot(text) });
    }
  }

  if (edits.length === 0) return null;
  const observed = await context.runWith(
    `tests compare with ${edits.map(({ path }) => path).join(", ")}`,
    { edits },
  );
  if (observed === null) return null;
  const earlierTests: TestCase[] = [];

  for (const { path } of await readTests(context)) {
    earlierTests.push(...findTestCases(path, (await textAt("base", path)) ?? ""));
  }

  const noticing = filterFailedTests(earlierTests, observed);
  const editedPaths = edits.map(({ path }) => path);
  if (noticing.length > 0) return describeSnapshots(editedPaths, noticing);
  const newTests = (await readAllTests(context)).flatMap(({ path, text }) =>
    findTestCases(path, text),
  );
  const recording = filterFailedTests(newTests, observed);

  const { before } = context.lab;
  const sources = await readSources(context);
  return recording.length === 0 || areAskedElsewhere(recording, earlierTests, { before, sources })
    ? null
    : describeOwnSnapshots(editedPaths, recording);
}
