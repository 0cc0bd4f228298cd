// test-names: reads the names of passed and failed tests, line by line, from the output of test
// runners. Pure.
//
// Invariants:
//   N1. Nothing is guessed: a name has passed only if the output says so, or says that all of its
//       group was run and names the failures.
//   N2. Memory and time are bounded whatever is printed: a limited number of names of limited
//       length, in one pass.

import type { TestNames } from "../../contracts/evidence.ts";

/** A file, package or tool whose output names each of its failed tests; null if that is unknown. */
export type NameGroup = string | null;
/** The names in one output. */
export type ReportedNames = {
  readonly passed: ReadonlySet<string>;
  /** Failed names, each with its group. */
  readonly failed: ReadonlyMap<string, NameGroup>;
  /** Groups that were run whole: a name of theirs that is not among the failed has passed. */
  readonly whole: ReadonlySet<string>;
};
export type TestNamesReader = {
  readonly addLine: (line: string) => void;
  readonly take: () => ReportedNames;
};

const passedMax = 3_000;
const failedMax = 500;
const nameCharsMax = 300;
const suiteDepthMax = 20;

/** What follows from a line, and what has to be remembered until a later one. */
class NameCollector {
  readonly passed = new Set<string>();
  readonly failed = new Map<string, NameGroup>();
  readonly whole = new Set<string>();
  /** Titles of suites by their indentation. */
  readonly titles: (readonly [indent: number, title: string])[] = [];
  /** Names that wait for the line that says which file or package they belong to. */
  readonly pending: { name: string; hasPassed: boolean }[] = [];
  /** How often each tool has printed its summary, so that the same number of runs is compared. */
  readonly summaryCounts = new Map<string, number>();
  readonly failedByTool = new Map<string, string[]>();
  file: string | null = null;
  isEndedEarly = false;

  report(name: string, hasPassed: boolean, group: NameGroup = null): void {
    const trimmed = cleanName(name);
    if (trimmed === "") return;
    if (hasPassed && this.passed.size < passedMax) this.passed.add(trimmed); // N2
    if (!hasPassed && this.failed.size < failedMax && (this.failed.get(trimmed) ?? null) === null) {
      this.failed.set(trimmed, group);
    }
  }
  /** Adds a failure of a tool that lists all of them. */
  listFailure(tool: string, name: string): void {
    const names = this.failedByTool.get(tool) ?? [];
    if (names.length < failedMax) names.push(name);
    this.failedByTool.set(tool, names);
  }
  countSummary(tool: string): void {
    this.summaryCounts.set(tool, (this.summaryCounts.get(tool) ?? 0) + 1);
  }
  /** Remembers a suite's title, for the names that are printed with more indentation below it. */
  openSuite(indent: number, title: string): void {
    while ((this.titles.at(-1)?.[0] ?? -1) >= indent) this.titles.pop();
    if (this.titles.length < suiteDepthMax) this.titles.push([indent, title]);
  }
  fullName(indent: number, name: string): string {
    return [
      ...this.titles.filter(([above]) => above < indent).map(([, title]) => title),
      name,
    ].join(" > ");
  }
  addPending(name: string, hasPassed: boolean): void {
    if (this.pending.length < passedMax) this.pending.push({ name, hasPassed });
  }
}

/** Without the time a test took: `adds 2 ms`, `adds (0.3s)`. */
const cleanName = (name: string): string =>
  name
    .trim()
    .replace(/\s\(?[\d.]{1,20}\s?m?s\)?$/, "")
    .slice(0, nameCharsMax);

/** A run that stops at a failure says nothing of the tests after it. */
const earlyEnd =
  /(?:^|\s)--?(?:fail-?fast|bail|maxfail|exitfirst)\b|\bfailfast\s?=\s?True\b|^!{3,} (?:stopping after|_pytest|Interrupted)/;

type Form = readonly [
  form: RegExp,
  collect: (collector: NameCollector, match: readonly string[]) => void,
];
const forms: readonly Form[] = [
  // TAP: node --test, tap, bats. A suite is named before its tests.
  [
    /^( {0,80})# Subtest: (.+)$/,
    (collector, [, indent = "", title = ""]) => collector.openSuite(indent.length, title),
  ],
  [
    /^( {0,80})(not )?ok \d{1,9}(?: -)? (.+)$/,
    (collector, [, indent = "", not, name = ""]) => {
      if (!/\s#\s?(?:skip|todo)\b/i.test(name)) {
        collector.report(
          collector.fullName(indent.length, name.replace(/\s# time=.*$/, "")),
          not === undefined,
        );
      }
    },
  ],
  // Perl: each failure by its name or its line, and a line per file. Expected failures have other
  // words, which match nothing here.
  [/^ {0,80}# {3}Failed test '(.+)'$/, (collector, [, name = ""]) => collector.report(name, false)],
  [
    /^ {0,80}# {3}Failed test at (\S{1,300} line \d{1,9})\.$/,
    (collector, [, place = ""]) => collector.report(place, false),
  ],
  [/^(\S{1,300}\.t) \.{2,80} ok$/, (collector, [, path = ""]) => collector.report(path, true)],
  [
    /^(\S{1,300}\.t) {1,20}\(Wstat: (?!0 Tests: [1-9]\d{0,8} Failed: 0\))/,
    (collector, [, path = ""]) => collector.report(path, false),
  ],
  // vitest: a line per file, and one per failure.
  [
    /^ {0,4}([✓❯×]) (?:\|[^|]{1,60}\| )?(\S{1,300}\.[cm]?[jt]sx?) \((\d{1,9}) tests?\b/,
    (collector, [, mark, path = "", count]) => {
      collector.report(path, mark === "✓");
      if (count !== "0") collector.whole.add(path);
      collector.openSuite(1, path);
    },
  ],
  [
    /^ {0,4}([✓×]) (?:\|[^|]{1,60}\| )?(\S{1,300}\.[cm]?[jt]sx? > .+)$/,
    (collector, [, mark, name = ""]) => collector.report(name, mark === "✓"),
  ],
  [
    /^ ?FAIL {1,2}(?:\|[^|]{1,60}\| )?(\S{1,300}\.[cm]?[jt]sx?)(?: > (.+)| \[ .+ \])$/,
    (collector, [, path = "", name]) =>
      name === undefined
        ? collector.report(path, false)
        : collector.report(`${path} > ${name}`, false, path),
  ],
  // jest: a line per file, and one per failure under it.
  [
    /^ ?(PASS|FAIL) {1,2}(\S{1,300}\.[cm]?[jt]sx?)(?: \([\d.]{1,9} m?s\))?$/,
    (collector, [, word, path = ""]) => {
      collector.report(path, word === "PASS");
      collector.whole.add(path);
      collector.file = path;
    },
  ],
  [
    /^ {2}● (.+)$/,
    (collector, [, name = ""]) => {
      if (collector.file === null || name.startsWith("Console")) return;
      if (name === "Test suite failed to run") collector.whole.delete(collector.file);
      else collector.report(`${collector.file} > ${name}`, false, collector.file);
    },
  ],
  // A linter's summary looks like a test's line but isn't one.
  [/^ {0,80}[✖×✕✗] \d{1,9} (?:problems?|errors?|warnings?)\b/, () => undefined],
  // Trees: node's spec reporter, mocha, jest --verbose.
  [
    /^( {0,80})▶ (.+?)(?: \([\d.]{1,20}ms\))?$/,
    (collector, [, indent = "", title = ""]) => collector.openSuite(indent.length, title),
  ],
  [
    /^( {0,80})([✔✓✖×✕]|\d{1,6}\)) (.+)$/,
    (collector, [, indent = "", mark = "", name = ""]) => {
      if (!/\s# (?:skip|todo)\b/i.test(name)) {
        collector.report(
          collector.fullName(indent.length, cleanName(name)),
          mark === "✔" || mark === "✓",
        );
      }
    },
  ],
  // pytest
  [
    /^(PASSED|FAILED|ERROR) ([^\s:]{1,300}\.py(?:::.+?)?)(?: - .*)?$/,
    (collector, [, word, name = ""]) => addPytestResult(collector, name, word),
  ],
  [
    /^([^\s:]{1,300}\.py::.+?) (PASSED|FAILED|ERROR)(?: {1,80}\[ {0,2}\d{1,3}%\])?$/,
    (collector, [, name = "", word]) => addPytestResult(collector, name, word),
  ],
  [
    /^(?:=+ )?\d{1,9} (?:passed|failed|errors?|skipped)\b.{0,200} in [\d.]{1,20}s/,
    (collector) => collector.countSummary("pytest"),
  ],
  // unittest
  [
    /^(?:FAIL|ERROR): (.+ \([\w.]{1,300}\).*)$/,
    (collector, [, name = ""]) => collector.listFailure("unittest", name),
  ],
  [
    /^(\w{1,200} \([\w.]{1,300}\)) \.\.\. ok$/,
    (collector, [, name = ""]) => collector.report(name, true),
  ],
  [/^Ran \d{1,9} tests? in /, (collector) => collector.countSummary("unittest")],
  // go: the tests of a package are printed before the package.
  [
    /^ {0,80}--- (PASS|FAIL): (\S{1,300}) \(/,
    (collector, [, word, name = ""]) => collector.addPending(name, word === "PASS"),
  ],
  [/^panic: |^fatal error: /, (collector) => collector.addPending("", false)],
  [
    /^(ok|FAIL) {0,2}\t(\S{1,300})(?:\t| (\[\w{1,20} failed\]))/,
    (collector, [, word, name = "", cause]) => addGoPackage(collector, name, word === "ok", cause),
  ],
  // cargo (`one --- FAILED` with -q) and deno, ctest
  [
    /^(?:test )?(.{1,300}?) (?:\.\.\.|---) (ok|FAILED)(?: \([\d.]{1,20}m?s\))?$/,
    (collector, [, name = "", word]) => collector.report(name, word === "ok"),
  ],
  [
    /^ {0,9}\d{1,9}\/\d{1,9} Test {1,9}#\d{1,9}: (\S{1,300}) [. ]{0,80}(\*{3}\S{1,40}|Passed)\b/,
    (collector, [, name = "", word]) => collector.report(name, word === "Passed"),
  ],
  // maven, gradle
  [
    /^(?:\[\w{1,9}\] )?Tests run: .{1,200}, Time elapsed: [\d.]{1,20} s(.{0,60}) --? in ([\w.$]{1,300})$/,
    (collector, [, end, name = ""]) => collector.report(name, end === ""),
  ],
  [
    /^(\S.{0,300}? > .{1,300}) FAILED$/,
    (collector, [, name = ""]) => collector.listFailure("gradle", name),
  ],
  [/^(\S.{0,300}? > .{1,300}) PASSED$/, (collector, [, name = ""]) => collector.report(name, true)],
  [/^\d{1,9} tests? completed\b/, (collector) => collector.countSummary("gradle")],
  // rspec
  [/^rspec (\S{1,300}) #/, (collector, [, name = ""]) => collector.listFailure("rspec", name)],
  [/^\d{1,9} examples?, \d{1,9} failures?\b/, (collector) => collector.countSummary("rspec")],
];

function addPytestResult(collector: NameCollector, name: string, word: string | undefined): void {
  if (word === "PASSED") collector.report(name, true);
  else collector.listFailure("pytest", name);
}

function addGoPackage(
  collector: NameCollector,
  name: string,
  hasPassed: boolean,
  cause: string | undefined,
): void {
  const pending = collector.pending.splice(0);
  collector.report(name, hasPassed);

  for (const test of pending) {
    if (test.name !== "") {
      collector.report(`${name} ${test.name}`, test.hasPassed, test.hasPassed ? null : name);
    }
  }

  // The empty name stands for a panic, after which tests are not named.
  if (cause === undefined && pending.every((test) => test.name !== "")) collector.whole.add(name);
}

/**
 * phpunit numbers its failures as other runners do; its names have a class: `1)
 * CalcTest::testAdds`.
 */
const phpFailure = /^\d{1,6}\) ([\w\\]{1,200}::\w{1,200}.{0,100})$/;
const phpSummary = /^Tests: \d{1,9}, Assertions: \d{1,9}\b/;

export function openTestNames(): TestNamesReader {
  const collector = new NameCollector();
  return {
    addLine(line) {
      if (earlyEnd.test(line)) collector.isEndedEarly = true;
      const php = phpFailure.exec(line)?.[1];
      if (php !== undefined) return collector.listFailure("phpunit", php);
      if (phpSummary.test(line)) return collector.countSummary("phpunit");
      for (const [form, collect] of forms) {
        const match = form.exec(line);
        if (match !== null) return collect(collector, match);
      }

      const title = /^( {2,80})(\S.{0,200})$/.exec(line); // mocha's suites have no mark
      if (title !== null) collector.openSuite(title[1]?.length ?? 0, title[2] ?? "");
    },
    take() {
      for (const [tool, names] of collector.failedByTool) {
        const group = `${tool} ${collector.summaryCounts.get(tool) ?? 0}`;
        for (const name of names) collector.report(name, false, group);
      }

      for (const [tool, summaryCount] of collector.summaryCounts) {
        collector.whole.add(`${tool} ${summaryCount}`);
      }

      if (collector.isEndedEarly) collector.whole.clear(); // N1
      return { passed: collector.passed, failed: collector.failed, whole: collector.whole };
    },
  };
}

/** The names in several outputs of one command together. */
export function mergeNames(outputs: readonly ReportedNames[]): ReportedNames {
  return {
    passed: new Set(outputs.flatMap(({ passed }) => [...passed])),
    failed: new Map(outputs.flatMap(({ failed }) => [...failed])),
    whole: new Set(outputs.flatMap(({ whole }) => [...whole])),
  };
}

/** As evidence keeps them. */
export const toTestNames = ({ passed, failed, whole }: ReportedNames): TestNames => ({
  passed: [...passed].slice(0, passedMax),
  failed: [...failed.keys()].slice(0, failedMax),
  whole: [...whole].slice(0, passedMax),
});

/** Tests that passed on the base and that the output does not name now, though it names others. */
export function findUnrunTests(before: TestNames, now: ReportedNames): readonly string[] {
  if (now.passed.size === 0 || before.passed.length >= passedMax || now.passed.size >= passedMax) {
    return [];
  } // N1: names may be missing

  // vitest and jest name the tests of a file only if one of them fails; of a file that passes they
  // print the number of tests.
  const testNames = [...now.passed, ...now.failed.keys()].filter((name) => name.includes(" > "));
  const filesWithNames = new Set(testNames.map((name) => name.split(" > ", 1)[0] ?? ""));

  const isInPassedFile = (name: string): boolean => {
    const [file = name] = name.split(" > ", 1);
    return (
      file !== name && now.whole.has(file) && now.passed.has(file) && !filesWithNames.has(file)
    );
  };
  return before.passed.filter(
    (name) => !now.passed.has(name) && !now.failed.has(name) && !isInPassedFile(name),
  );
}

/**
 * Tests that passed before anything was changed and fail now, in every run. `isSameJudge`: the
 * protected files are unchanged, so the same tests were run before: a name that was not among the
 * failures of its group then had passed.
 */
export function findBrokenTests(
  before: TestNames,
  runs: readonly ReportedNames[],
  isSameJudge: boolean,
): readonly string[] {
  const [first] = runs;
  if (first === undefined) return [];

  const [passed, failed, whole] = [
    new Set(before.passed),
    new Set(before.failed),
    new Set(before.whole),
  ];
  const hasPassed = (name: string, group: NameGroup): boolean =>
    passed.has(name) || (isSameJudge && group !== null && whole.has(group)); // N1
  // A name that also passes belongs to two tests, and which of them was meant before is unknown.
  const fails = (name: string): boolean =>
    runs.every((run) => run.failed.has(name) && !run.passed.has(name));

  return [...first.failed]
    .filter(([name, group]) => !failed.has(name) && hasPassed(name, group) && fails(name))
    .map(([name]) => name);
}
