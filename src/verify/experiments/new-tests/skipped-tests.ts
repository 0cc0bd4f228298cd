// skipped-tests: finds tests of the work's own that are marked as skipped.

import { listSome } from "../../../kit/list-some.ts";
import { findProtectionRow, isTestRow } from "../../protected/kinds.ts";
import { findTestCases } from "../source-text/test-cases.ts";
import { type QuestionContext, readChanged } from "../questions/question-context.ts";

/** Tests of the work's own that are marked as skipped, asked once. */
export async function findSkippedTests(context: QuestionContext): Promise<string | null> {
  if (!context.isFirst) return null;
  const isTestFile = (path: string): boolean =>
    isTestRow(context.rules.rowOf(path)) || findProtectionRow(path)?.kind === "test";

  const skipped = (await readChanged(context, isTestFile)).flatMap(({ path, was, is }) => {
    const before = new Set(findTestCases(path, was ?? "").map(({ text }) => text.trim()));
    return findTestCases(path, is).filter(
      ({ isSkipped, text }) => isSkipped && !before.has(text.trim()),
    );
  });
  if (skipped.length === 0) return null;
  return `tests of the work are skipped: ${listSome(skipped.map(({ name, path }) => `${name} (${path})`))}`;
}
