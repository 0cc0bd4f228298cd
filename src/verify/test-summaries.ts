// test-summaries: counts the tests that a command ran, from the summaries that test runners and
// linters print. Pure.
//
// Invariants:
//   T1. Nothing is guessed: output in no known form has no tally. All output is read, even what is
//       not kept, so that a flood of output cannot hide a summary.
//   T2. A tally never makes a check pass. It can only show that a check that exits with 0 ran less
//       than before, or that its tests failed.

import type { Evidence, TestTally } from "../contracts/evidence.ts";

const parseCount = (text: string | undefined): number =>
  Math.min(Number(text ?? 0), Number.MAX_SAFE_INTEGER);

/** `3 failed | 2 passed`, `1 failed, 3 passed`: each word with its number. */
function tallyFromWords(text: string): TestTally {
  const tally = { ran: 0, failed: 0, skipped: 0 };
  for (const [, digits, word = ""] of text.matchAll(
    /(\d{1,9}) (failed|passed|errors?|xfailed|xpassed|skipped|todo|pending)\b/g,
  )) {
    const count = parseCount(digits);
    if (/^(?:skipped|todo|pending|xfailed)$/.test(word)) tally.skipped += count;
    else tally.ran += count;

    if (/^(?:failed|errors?)$/.test(word)) tally.failed += count;
  }

  return tally;
}

const summaryForms: readonly (readonly [
  form: RegExp,
  read: (match: RegExpExecArray) => TestTally,
])[] = [
  [/^Tests: {1,20}(.{1,200}) total$/, ([, message = ""]) => tallyFromWords(message)], // jest
  [/^ {0,20}Tests {1,20}(.{1,200}) \(\d{1,9}\)$/, ([, message = ""]) => tallyFromWords(message)], // vitest
  [
    /^(?:=+ )?(\d{1,9} (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?)\b.{0,200}) in [\d.]{1,20}s/,
    ([, message = ""]) => tallyFromWords(message),
  ], // pytest
  [/^(?:ok|FAILED) \| (.{1,200})$/, ([, message = ""]) => tallyFromWords(message)], // deno
  [
    /^test result: \w{1,20}\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored/,
    ([, passed, failed, skipped]) => tallyFromPassed(passed, failed, skipped),
  ], // cargo
  [/^ {1,20}(\d{1,9}) passing\b/, ([, passed]) => tallyFromPassed(passed, "0", "0")], // mocha
  [/^ {1,20}(\d{1,9}) failing$/, ([, failed]) => tallyFromPassed("0", failed, "0")],
  [/^ {1,20}(\d{1,9}) pending$/, ([, skipped]) => tallyFromPassed("0", "0", skipped)],
  [/^(?:#|ℹ) (?:pass|passing) {1,9}(\d{1,9})$/, ([, passed]) => tallyFromPassed(passed, "0", "0")], // node, tap
  [
    /^(?:#|ℹ) (?:fail|cancelled) {1,9}(\d{1,9})$/,
    ([, failed]) => tallyFromPassed("0", failed, "0"),
  ],
  [
    /^(?:#|ℹ) (?:skipped|skip|todo) {1,9}(\d{1,9})$/,
    ([, skipped]) => tallyFromPassed("0", "0", skipped),
  ],
  [/^Ran (\d{1,9}) tests? in /, ([, ran]) => tallyFromPassed(ran, "0", "0")], // unittest; the line after it subtracts from it
  [
    /^(?:OK|FAILED) \(((?:[a-z ]{1,40}=\d{1,9}(?:, )?){1,8})\)$/,
    ([, message = ""]) => tallyFromUnittest(message),
  ],
  [
    /^(?:\[\w{1,9}\] )?Tests run: (\d{1,9}), Failures: (\d{1,9}), Errors: (\d{1,9}), Skipped: (\d{1,9})$/,
    ([, ran, failures, errors, skipped]) => tallyFromTotal(ran, failures, errors, skipped),
  ],
  [/^OK \((\d{1,9}) tests?, /, ([, ran]) => tallyFromPassed(ran, "0", "0")], // phpunit
  [
    /^Tests: (\d{1,9}), Assertions: \d{1,9}(.{0,200})\.$/,
    ([, ran, counts = ""]) =>
      tallyFromTotal(
        ran,
        numberAfter(counts, "Failures"),
        numberAfter(counts, "Errors"),
        numberAfter(counts, "Skipped"),
      ),
  ],
  [
    /^(\d{1,9}) examples?, (\d{1,9}) failures?(?:, (\d{1,9}) pending)?/,
    ([, ran, failed, skipped]) => tallyFromTotal(ran, failed, "0", skipped),
  ], // rspec
  [
    /^(\d{1,9}) tests? completed(?:, (\d{1,9}) failed)?(?:, (\d{1,9}) skipped)?$/,
    ([, ran, failed, skipped]) => tallyFromTotal(ran, failed, "0", skipped),
  ], // gradle, if a test failed
  [
    /^\d{1,3}% tests passed, (\d{1,9}) tests? failed out of (\d{1,9})$/,
    ([, failed, ran]) => tallyFromTotal(ran, failed, "0", "0"),
  ], // ctest
  [/^Files=\d{1,9}, Tests=(\d{1,9}), /, ([, ran]) => tallyFromPassed(ran, "0", "0")], // prove, which reports failures file by file
  [
    /^\S{1,300} {1,20}\(Wstat: .{1,60} Failed: (\d{1,9})\)$/,
    ([, failed]) => tallyFromProblems(failed),
  ],
  [/^✖ \d{1,9} problems? \((\d{1,9}) errors?\b/, ([, failed]) => tallyFromProblems(failed)], // eslint
  [/^Found (\d{1,9}) errors?\b/, ([, failed]) => tallyFromProblems(failed)], // ruff, mypy, tsc
  [/^[^\s(][^(\n]{0,400}\(\d{1,9},\d{1,9}\): error TS\d{1,6}:/, () => tallyFromProblems("1")], // tsc, a line for each error
];

const tallyFromPassed = (
  passed: string | undefined,
  failed: string | undefined,
  skipped: string | undefined,
): TestTally => ({
  ran: parseCount(passed) + parseCount(failed),
  failed: parseCount(failed),
  skipped: parseCount(skipped),
});
const tallyFromProblems = (failed: string | undefined): TestTally => ({
  ran: 0,
  failed: parseCount(failed),
  skipped: 0,
});
const tallyFromTotal = (
  ran: string | undefined,
  failures: string | undefined,
  errors: string | undefined,
  skipped: string | undefined,
): TestTally => ({
  ran: Math.max(0, parseCount(ran) - parseCount(skipped)),
  failed: parseCount(failures) + parseCount(errors),
  skipped: parseCount(skipped),
});

/** `2` of `Failures: 2`. */
const numberAfter = (message: string, name: string): string =>
  new RegExp(`\\b${name}: (\\d{1,9})`).exec(message)?.[1] ?? "0";

/**
 * `failures=1, skipped=2`. Skipped tests are among those of the line before (`Ran 5 tests in …`),
 * so they are subtracted.
 */
function tallyFromUnittest(message: string): TestTally {
  const countOf = (name: string): number =>
    parseCount(new RegExp(`(?:^|, )${name}=(\\d{1,9})`).exec(message)?.[1]);
  return {
    ran: -countOf("skipped"),
    failed: countOf("failures") + countOf("errors"),
    skipped: countOf("skipped"),
  };
}

export type TallyReader = {
  readonly addLine: (line: string) => void;
  readonly take: (hasTests: (path: string) => boolean) => TestTally | null;
};

/**
 * `SUBFAILED(i=1) test_a.py::A::test_x - …` of pytest, `FAIL: test_x (test_a.A.test_x) (i=1)` of
 * unittest: a part of a test.
 */
const failedPart =
  /^(?:SUBFAIL(?:ED)?(?:\(.{0,200}\)|\[.{0,200}\])* (\S{1,500}::\S{1,500})|(?:FAIL|ERROR): (\S{1,200} \(\S{1,500}\)) [[(])/;
/**
 * A file that node reports as one passed test, because it ran none: `ok 1 - test/a.test.js`, `✔
 * test/a.test.js (52.1ms)`.
 */
const passedFile = /^(?:ok \d{1,9} - |✔ )(\S{1,1000}\.[cm]?[jt]s)(?: \([\d.]{1,20}ms\))?$/;
const passedFilesMax = 10_000;

/**
 * Reads lines one after the other, and adds up all summaries. `empty` counts runs that ended before
 * they ran their tests.
 */
export function openTally(): TallyReader {
  let tally: TestTally = { ran: 0, failed: 0, skipped: 0 };
  let isReported = false;
  let unfinishedRuns = 0;
  let previousLine = "";
  /**
   * Files reported as passed that ran no test; whether they contain tests is found out at the end.
   */
  const passedFiles: string[] = [];
  const testsWithFailedParts = new Set<string>();

  /**
   * Summaries count each failed part of a test; pytest counts the test itself as passed. A test
   * fails once, however many parts do.
   */
  const addFailedPart = (
    pytestName: string | undefined,
    unittestName: string | undefined,
  ): void => {
    const name = pytestName ?? unittestName ?? "";
    const isFirst = !testsWithFailedParts.has(name);
    testsWithFailedParts.add(name);
    tally = {
      ...tally,
      ran: tally.ran - (pytestName === undefined ? 0 : 1),
      failed: tally.failed - (isFirst ? 0 : 1),
    };
  };

  return {
    addLine(line) {
      const [match, read] = matchForm(line);
      if (match !== null) {
        const counts = read(match);
        tally = {
          ran: tally.ran + counts.ran,
          failed: tally.failed + counts.failed,
          skipped: tally.skipped + counts.skipped,
        };

        isReported = true;
      }

      const part = failedPart.exec(line);
      if (part !== null) addFailedPart(part[1], part[2]);
      if (/^running \d{1,9} tests?$/.test(line)) unfinishedRuns += 1; // cargo
      if (line.startsWith("test result: ")) unfinishedRuns -= 1;
      const path = passedFile.exec(line)?.[1];
      const isPassedFile =
        path !== undefined && (line.startsWith("✔") || previousLine === `# Subtest: ${path}`);
      if (isPassedFile && passedFiles.length < passedFilesMax) passedFiles.push(path);
      previousLine = line;
    },
    take(hasTests) {
      const empty = passedFiles.filter(hasTests).length + Math.max(0, unfinishedRuns);
      if (!isReported && empty === 0) return null;
      const { ran, failed, skipped } = tally;

      return {
        ran: Math.max(0, ran),
        failed: Math.max(0, failed),
        skipped,
        ...(empty === 0 ? {} : { empty }),
      };
    },
  };
}

function matchForm(
  line: string,
): readonly [RegExpExecArray | null, (match: RegExpExecArray) => TestTally] {
  for (const [form, read] of summaryForms) {
    const match = form.exec(line);
    if (match !== null) return [match, read];
  }

  return [null, () => ({ ran: 0, failed: 0, skipped: 0 })];
}

/** The sum of several tallies; null if there is none. */
export function sumTallies(candidates: readonly (TestTally | null)[]): TestTally | null {
  const tallies = candidates.filter((tally) => tally !== null);
  if (tallies.length === 0) return null;
  const sum = (select: (tally: TestTally) => number): number =>
    tallies.reduce((subtotal, tally) => subtotal + select(tally), 0);
  const empty = sum((tally) => tally.empty ?? 0);

  const total = {
    ran: sum(({ ran }) => ran),
    failed: sum(({ failed }) => failed),
    skipped: sum(({ skipped }) => skipped),
  };
  return empty === 0 ? total : { ...total, empty };
}

/** Why a passing check proves less than before anything was changed; null if it does not. */
export function explainLesserProof(before: TestTally, now: TestTally | null): string | null {
  if ((now?.empty ?? 0) > (before.empty ?? 0)) {
    return "tests were ended before they were run, by something that ended the program";
  }

  if (before.ran === 0) return null;
  if (now === null || now.ran === 0) {
    return `it ran no test that it tells of, and ${before.ran} before the work began`;
  }

  if (now.ran < before.ran && now.skipped > before.skipped) {
    return `it skipped tests that it ran before the work began: ${now.ran} were run, before that ${before.ran}`;
  }

  return null;
}

/**
 * Why a check that exits with 0 has not passed: tests failed, and on the base it did not pass with
 * failed tests.
 */
export function explainIgnoredFailures(
  tests: TestTally | null,
  baseEvidence: Evidence | null,
): string | null {
  const { failed = 0 } = tests ?? {};
  if (
    failed === 0 ||
    baseEvidence === null ||
    (baseEvidence.status === "passed" && (baseEvidence.tests?.failed ?? 0) > 0)
  ) {
    return null;
  }

  return `it ended as if all were well, and tells of ${failed} failed ${failed === 1 ? "test" : "tests"}`;
}
