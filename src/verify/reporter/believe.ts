// believe: which of two sources on a check's tests counts, its output or its record, and what a pass leaves open by its record. Pure.

import type { Evidence, Recorded, TestTally } from "../../contracts/evidence.ts";
import type { ReadOutput } from "../test-output.ts";
import type { TestRecord } from "./record.ts";

/**
 * The record if it is whole: that is decided before the work, when the agent cannot affect it. A command may also start runners without our
 * reporter; then its output has more. Or runners inside its tests report as well; then it has fewer.
 */
export function believed(
  output: ReadOutput,
  record: TestRecord | null,
  before: Evidence | null,
): ReadOutput & { readonly recorded: Recorded | null } {
  if (record === null) return { ...output, recorded: null };
  const { runners, replaced, unended, isOver } = record;
  const isRead = before === null ? unended === 0 && !isOver && isSame(record.tests, output.tests) : before.recorded?.isWhole === true;
  const recorded = { runners: [...runners], isWhole: isRead && !isOver, replaced: [...replaced], unended };
  return isRead ? { tests: record.tests, names: record.names, failing: output.failing, recorded } : { ...output, recorded };
}

const isSame = (record: TestTally, output: TestTally | null): boolean =>
  output === null || (record.ran === output.ran && record.failed === output.failed);

const shownMax = 5;

/** What a person has to review, of a passing check; null if nothing, or there is nothing to compare with. */
export function recordGap(
  { recorded: now, strangers }: { readonly recorded: Recorded | null; readonly strangers: number },
  before: Evidence | null,
): string | null {
  const was = before?.recorded;
  if (was === undefined) return null;
  if (now === null)
    return `${was.runners.join(", ")} reported to us before the work and does not now, so results were read from the output`;
  const replaced = now.replaced.filter((name) => !was.replaced.includes(name));
  const more = replaced.length > shownMax ? ` and ${replaced.length - shownMax} more` : "";
  const gaps = [
    replaced.length === 0 ? "" : `as it ran, ${replaced.slice(0, shownMax).join(", ")}${more} was replaced, which tests rely on`,
    now.unended > was.unended ? "something that ran tests was ended before it could report" : "",
    was.isWhole && !now.isWhole ? "its test runner reported more than is read" : "",
    strangers > 0 ? "somebody else wrote to or read from the channel that its test runner reports over" : "",
  ].filter((gap) => gap !== "");
  return gaps.length === 0 ? null : `${gaps.join("; ")}, so a person has to look at that`;
}
