// choose-test-source: chooses between the two sources on a check's tests, its output and our
// reporter's record, and describes what in the record a person has to review. Pure.

import { listSome } from "../../kit/list-some.ts";
import type { Evidence, Recorded, TestTally } from "../../contracts/evidence.ts";
import type { ParsedOutput } from "../read-test-output.ts";
import type { TestRecord } from "./test-record.ts";

/**
 * The record counts if it was complete on the base: the agent cannot affect that. It is incomplete
 * if the command also starts runners without our reporter (the output shows more tests), or if
 * runners inside its tests report too (the output shows fewer).
 */
export function chooseTestSource(
  output: ParsedOutput,
  record: TestRecord | null,
  baseEvidence: Evidence | null,
): ParsedOutput & { readonly recorded: Recorded | null } {
  if (record === null) return { ...output, recorded: null };
  const { runners, replaced, unended, isTruncated } = record;
  const isComplete = unended === 0 && !isTruncated && isSameTally(record.tests, output.tests);
  const isRecordUsed = baseEvidence === null ? isComplete : baseEvidence.recorded?.isWhole === true;

  const recorded = {
    runners: [...runners],
    isWhole: isRecordUsed && !isTruncated,
    replaced: [...replaced],
    unended,
  };

  return isRecordUsed
    ? { tests: record.tests, names: record.names, failing: output.failing, recorded }
    : { ...output, recorded };
}

const isSameTally = (record: TestTally, output: TestTally | null): boolean =>
  output === null || (record.ran === output.ran && record.failed === output.failed);

const shownMax = 5;

/**
 * What a person has to review, of a passing check; null if nothing, or there is nothing to compare
 * with.
 */
export function describeRecordGap(
  {
    recorded: record,
    foreignLines,
  }: { readonly recorded: Recorded | null; readonly foreignLines: number },
  baseEvidence: Evidence | null,
): string | null {
  const baseRecord = baseEvidence?.recorded;
  if (baseRecord === undefined) return null;
  if (record === null) {
    return `${baseRecord.runners.join(", ")} reported to us before the work and does not now, so results were read from the output`;
  }

  const hasRunBefore = (baseEvidence?.tests?.ran ?? 0) > 0;
  const isOfRunner = (name: string): boolean => !hasRunBefore && name.startsWith("process."); // vitest replaces process.exit once it runs a test
  const replaced = record.replaced.filter(
    (name) => !baseRecord.replaced.includes(name) && !isOfRunner(name),
  );

  const gaps = [
    replaced.length === 0
      ? ""
      : `as it ran, ${listSome(replaced, shownMax)} was replaced, which tests rely on`,
    record.unended > baseRecord.unended
      ? "something that ran tests was ended before it could report"
      : "",
    baseRecord.isWhole && !record.isWhole ? "its test runner reported more than is read" : "",
    foreignLines > 0
      ? "somebody else wrote to or read from the channel that its test runner reports over"
      : "",
  ].filter((gap) => gap !== "");
  return gaps.length === 0 ? null : `${gaps.join("; ")}, so a person has to look at that`;
}
