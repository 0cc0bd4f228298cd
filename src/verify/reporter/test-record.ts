// test-record: collects what the reporters in a check's processes sent over the private channel.
// Pure.
//
// Invariants:
//   R1. A line counts only with the nonce of this run. Anything else on the channel is counted as
//       foreign.
//   R2. A test reported as failed has failed, whatever else is reported: a line can be added, none
//       can be removed.
//   R3. The numbers of tests and names are bounded. Failures are counted beyond the bound too, and
//       the record says that it was reached.
//   R4. Passed tests are reported by name. So a test that is not reported was not run: a chain of
//       commands (`a && b`) did not reach it.

import type { TestTally } from "../../contracts/evidence.ts";
import type { ReportedNames } from "../detect/test-names.ts";
import { toRelativePaths } from "../read-test-output.ts";

export type TestRecord = {
  /** Which test runners reported their tests. */
  readonly runners: readonly string[];
  readonly tests: TestTally;
  readonly names: ReportedNames;
  /** Built-ins of the language that differed at the end. */
  readonly replaced: readonly string[];
  /** Test runners, and processes with tests, that did not end normally. */
  readonly unended: number;
  readonly foreignLines: number;
  /** Whether more was reported than is kept. */
  readonly isTruncated: boolean;
};
export type RecordReader = {
  /** `isBeyondLimit`: more was written than is read, failures excepted. */
  readonly addLine: (line: string, isBeyondLimit?: boolean) => void;
  /** Whether our programs were loaded into anything. */
  readonly isLoaded: () => boolean;
  /**
   * Null if no test runner reported anything. `hasTests`: whether a file that ran no test contains
   * some.
   */
  readonly take: (hasTests: (path: string) => boolean) => TestRecord | null;
};

const testsMaxDefault = 200_000;
const namesMax = 3_000;
const failedMax = 500;
const replacedMax = 50;
/** The one group of all recorded names (detect/test-names.ts). */
const recordedGroup = "recorded";

/** `folders`: paths of the folder in which the check runs, which are removed from names. */
export function openRecord(
  nonce: string,
  folders: readonly string[],
  testsMax = testsMaxDefault,
): RecordReader {
  const openProcesses = new Set<string>();
  const runners = new Map<string, string>();
  const finishedRunners = new Set<string>();
  const [passed, failed] = [new Set<string>(), new Set<string>()];
  const files: string[] = [];
  /** Names of replaced built-ins, by process and name. */
  const replaced = new Map<string, string>();
  const count = { ran: 0, failed: 0, skipped: 0 };
  let foreignLines = 0;
  let isLoaded = false;
  let isTruncated = false;

  const addTest = (status: string, name: string, isCounted: boolean): void => {
    if (count.ran + count.skipped >= testsMax) isTruncated = true;
    if (isTruncated && status !== "failed") return; // R3
    if (status === "skipped") count.skipped += isCounted ? 1 : 0;
    else count.ran += isCounted ? 1 : 0;

    if (status === "failed") {
      count.failed += isCounted ? 1 : 0;
      if (failed.size < failedMax) failed.add(name);
    } else if (status === "passed" && passed.size < namesMax) {
      passed.add(name);
    }
  };

  return {
    isLoaded: () => isLoaded,
    addLine(line, isBeyondLimit = false) {
      isTruncated ||= isBeyondLimit;
      const [lineNonce, id = "", kind = "", ...fields] = line.split("\t");
      if (lineNonce !== nonce) {
        foreignLines += line === "" ? 0 : 1; // R1
        return;
      }

      isLoaded = true;
      if (isBeyondLimit && kind !== "test" && kind !== "suite") return; // R3
      const [first = "", second = ""] = fields.map((word) =>
        toRelativePaths(decodeField(word), folders),
      );

      if (kind === "open") openProcesses.add(id);
      if (kind === "close") openProcesses.delete(id);
      if (kind === "runner") runners.set(id, first);
      if (kind === "done") finishedRunners.add(id);
      if (kind === "test" || kind === "suite") addTest(first, second, kind === "test");
      if (kind === "file" && files.length >= testsMax) isTruncated = true;
      else if (kind === "file") files.push(second);

      if (kind === "replaced" && replaced.size < replacedMax) replaced.set(`${id} ${first}`, first);
      if (kind === "restored") replaced.delete(`${id} ${first}`);
    },
    take(hasTests) {
      if (runners.size === 0) return null;
      const empty = files.filter(hasTests).length;
      // R4. Beyond the bound names are missing: then all that did not fail counts as passed.
      const areAllNamed = passed.size < namesMax;
      for (const name of failed) passed.delete(name); // R2

      return {
        runners: [...new Set(runners.values())].toSorted(),
        tests: { ...count, ran: count.ran + files.length, ...(empty === 0 ? {} : { empty }) },
        names: {
          passed,
          failed: new Map([...failed].map((name) => [name, recordedGroup])),
          whole: new Set(areAllNamed ? [] : [recordedGroup]),
        },
        replaced: [...new Set(replaced.values())].toSorted(),
        unended: new Set([
          ...openProcesses,
          ...[...runners.keys()].filter((id) => !finishedRunners.has(id)),
        ]).size,
        foreignLines,
        isTruncated,
      };
    },
  };
}

function decodeField(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
