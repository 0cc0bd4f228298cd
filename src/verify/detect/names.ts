// names: the names of passed and failed tests, read line by line from the output of test runners. Pure.
//
// Invariants:
//   N1. Nothing is guessed: a name has passed only if the output says so, or says that all of its group was run and names the failures.
//   N2. Bounded and linear: so many names of so many letters, one pass, whatever is printed.

import type { TestNames } from "../../contracts/evidence.ts";

export type Group = string | null;
/** The names in one output. A failed name has a group if the output would have named it too if it had failed before. */
export type ReportedNames = {
  readonly passed: ReadonlySet<string>;
  readonly failed: ReadonlyMap<string, Group>;
  readonly whole: ReadonlySet<string>;
};
export type NamesReader = { readonly line: (line: string) => void; readonly take: () => ReportedNames };

const passedMax = 3_000;
const failedMax = 500;
const nameCharsMax = 300;

/** What follows from a line, and what has to be remembered until a later one. */
class Reading {
  readonly passed = new Set<string>();
  readonly failed = new Map<string, Group>();
  readonly whole = new Set<string>();
  /** Titles of suites by their indentation. */
  readonly titles: (readonly [indent: number, title: string])[] = [];
  /** Names that wait for the line that says which file or package they belong to. */
  readonly waiting: { name: string; hasPassed: boolean }[] = [];
  /** How often each tool has printed its summary, so that the same number of runs is compared. */
  readonly sums = new Map<string, number>();
  readonly failedOf = new Map<string, string[]>();
  file: string | null = null;
  isCut = false;

  report(name: string, hasPassed: boolean, group: Group = null): void {
    const short = cleaned(name);
    if (short === "") return;
    if (hasPassed && this.passed.size < passedMax) this.passed.add(short); // N2
    if (!hasPassed && this.failed.size < failedMax && (this.failed.get(short) ?? null) === null) this.failed.set(short, group);
  }
  /** A failure of a tool that lists all of them. */
  list(tool: string, name: string): void {
    const names = this.failedOf.get(tool) ?? [];
    if (names.length < failedMax) names.push(name);
    this.failedOf.set(tool, names);
  }
  sum(tool: string): void {
    this.sums.set(tool, (this.sums.get(tool) ?? 0) + 1);
  }
  title(indent: number, title: string): void {
    while ((this.titles.at(-1)?.[0] ?? -1) >= indent) this.titles.pop();
    if (this.titles.length < 20) this.titles.push([indent, title]);
  }
  under(indent: number, name: string): string {
    return [...this.titles.filter(([above]) => above < indent).map(([, title]) => title), name].join(" > ");
  }
  wait(name: string, hasPassed: boolean): void {
    if (this.waiting.length < passedMax) this.waiting.push({ name, hasPassed });
  }
}

const cleaned = (name: string): string =>
  name
    .trim()
    .replace(/\s\(?[\d.]{1,20}\s?m?s\)?$/, "")
    .slice(0, nameCharsMax);

const endedEarly =
  /(?:^|\s)--?(?:fail-?fast|bail|maxfail|exitfirst)\b|\bfailfast\s?=\s?True\b|^!{3,} (?:stopping after|_pytest|Interrupted)/;

type Form = readonly [form: RegExp, read: (reading: Reading, found: readonly string[]) => void];
const forms: readonly Form[] = [
  // TAP: node --test, tap, bats. A suite is named before its tests.
  [/^( {0,80})# Subtest: (.+)$/, (to, [, indent = "", title = ""]) => to.title(indent.length, title)],
  [
    /^( {0,80})(not )?ok \d{1,9}(?: -)? (.+)$/,
    (to, [, indent = "", not, name = ""]) => {
      if (!/\s#\s?(?:skip|todo)\b/i.test(name)) to.report(to.under(indent.length, name.replace(/\s# time=.*$/, "")), not === undefined);
    },
  ],
  // vitest: a line per file, and one per failure.
  [
    /^ {0,4}([✓❯×]) (?:\|[^|]{1,60}\| )?(\S{1,300}\.[cm]?[jt]sx?) \((\d{1,9}) tests?\b/,
    (to, [, mark, path = "", many]) => {
      to.report(path, mark === "✓");
      if (many !== "0") to.whole.add(path);
      to.title(1, path);
    },
  ],
  [/^ {0,4}([✓×]) (?:\|[^|]{1,60}\| )?(\S{1,300}\.[cm]?[jt]sx? > .+)$/, (to, [, mark, name = ""]) => to.report(name, mark === "✓")],
  [
    /^ ?FAIL {1,2}(?:\|[^|]{1,60}\| )?(\S{1,300}\.[cm]?[jt]sx?)(?: > (.+)| \[ .+ \])$/,
    (to, [, path = "", name]) => (name === undefined ? to.report(path, false) : to.report(`${path} > ${name}`, false, path)),
  ],
  // jest: a line per file, and one per failure under it.
  [
    /^ ?(PASS|FAIL) {1,2}(\S{1,300}\.[cm]?[jt]sx?)(?: \([\d.]{1,9} m?s\))?$/,
    (to, [, word, path = ""]) => {
      to.report(path, word === "PASS");
      to.whole.add(path);
      to.file = path;
    },
  ],
  [
    /^ {2}● (.+)$/,
    (to, [, name = ""]) => {
      if (to.file === null || name.startsWith("Console")) return;
      if (name === "Test suite failed to run") to.whole.delete(to.file);
      else to.report(`${to.file} > ${name}`, false, to.file);
    },
  ],
  // A linter's summary looks like a test's line but isn't one.
  [/^ {0,80}[✖×✕✗] \d{1,9} (?:problems?|errors?|warnings?)\b/, () => undefined],
  // Trees: node's spec reporter, mocha, jest --verbose.
  [/^( {0,80})▶ (.+?)(?: \([\d.]{1,20}ms\))?$/, (to, [, indent = "", title = ""]) => to.title(indent.length, title)],
  [
    /^( {0,80})([✔✓✖×✕]|\d{1,6}\)) (.+)$/,
    (to, [, indent = "", mark = "", name = ""]) => {
      if (!/\s# (?:skip|todo)\b/i.test(name)) to.report(to.under(indent.length, cleaned(name)), mark === "✔" || mark === "✓");
    },
  ],
  // pytest
  [/^(PASSED|FAILED|ERROR) ([^\s:]{1,300}\.py(?:::.+?)?)(?: - .*)?$/, (to, [, word, name = ""]) => ofPytest(to, name, word)],
  [/^([^\s:]{1,300}\.py::.+?) (PASSED|FAILED|ERROR)(?: {1,80}\[ {0,2}\d{1,3}%\])?$/, (to, [, name = "", word]) => ofPytest(to, name, word)],
  [/^(?:=+ )?\d{1,9} (?:passed|failed|errors?|skipped)\b.{0,200} in [\d.]{1,20}s/, (to) => to.sum("pytest")],
  // unittest
  [/^(?:FAIL|ERROR): (.+ \([\w.]{1,300}\).*)$/, (to, [, name = ""]) => to.list("unittest", name)],
  [/^(\w{1,200} \([\w.]{1,300}\)) \.\.\. ok$/, (to, [, name = ""]) => to.report(name, true)],
  [/^Ran \d{1,9} tests? in /, (to) => to.sum("unittest")],
  // go: the tests of a package are printed before the package.
  [/^ {0,80}--- (PASS|FAIL): (\S{1,300}) \(/, (to, [, word, name = ""]) => to.wait(name, word === "PASS")],
  [/^panic: |^fatal error: /, (to) => to.wait("", false)],
  [/^(ok|FAIL) {0,2}\t(\S{1,300})(?:\t| (\[\w{1,20} failed\]))/, (to, [, word, name = "", cause]) => ofGo(to, name, word === "ok", cause)],
  // cargo and deno, ctest
  [/^(?:test )?(.{1,300}?) \.\.\. (ok|FAILED)(?: \([\d.]{1,20}m?s\))?$/, (to, [, name = "", word]) => to.report(name, word === "ok")],
  [
    /^ {0,9}\d{1,9}\/\d{1,9} Test {1,9}#\d{1,9}: (\S{1,300}) [. ]{0,80}(\*{3}\S{1,40}|Passed)\b/,
    (to, [, name = "", word]) => to.report(name, word === "Passed"),
  ],
  // maven, gradle
  [
    /^(?:\[\w{1,9}\] )?Tests run: .{1,200}, Time elapsed: [\d.]{1,20} s(.{0,60}) --? in ([\w.$]{1,300})$/,
    (to, [, end, name = ""]) => to.report(name, end === ""),
  ],
  [/^(\S.{0,300}? > .{1,300}) FAILED$/, (to, [, name = ""]) => to.list("gradle", name)],
  [/^(\S.{0,300}? > .{1,300}) PASSED$/, (to, [, name = ""]) => to.report(name, true)],
  [/^\d{1,9} tests? completed\b/, (to) => to.sum("gradle")],
  // rspec
  [/^rspec (\S{1,300}) #/, (to, [, name = ""]) => to.list("rspec", name)],
  [/^\d{1,9} examples?, \d{1,9} failures?\b/, (to) => to.sum("rspec")],
];

function ofPytest(to: Reading, name: string, word: string | undefined): void {
  if (word === "PASSED") to.report(name, true);
  else to.list("pytest", name);
}

function ofGo(to: Reading, name: string, hasPassed: boolean, cause: string | undefined): void {
  const reported = to.waiting.splice(0);
  to.report(name, hasPassed);
  for (const one of reported) if (one.name !== "") to.report(`${name} ${one.name}`, one.hasPassed, one.hasPassed ? null : name);
  if (cause === undefined && reported.every((one) => one.name !== "")) to.whole.add(name);
}

/** phpunit marks failures like a tree does; what it names has a class. */
const ofPhp = /^\d{1,6}\) ([\w\\]{1,200}::\w{1,200}.{0,100})$/;
const phpSum = /^Tests: \d{1,9}, Assertions: \d{1,9}\b/;

export function openNames(): NamesReader {
  const to = new Reading();
  return {
    line(line) {
      if (endedEarly.test(line)) to.isCut = true;
      const php = ofPhp.exec(line)?.[1];
      if (php !== undefined) return to.list("phpunit", php);
      if (phpSum.test(line)) return to.sum("phpunit");
      for (const [form, read] of forms) {
        const match = form.exec(line);
        if (match !== null) return read(to, match);
      }
      const title = /^( {2,80})(\S.{0,200})$/.exec(line); // mocha's suites have no mark
      if (title !== null) to.title(title[1]?.length ?? 0, title[2] ?? "");
    },
    take() {
      for (const [tool, names] of to.failedOf) {
        const group = `${tool} ${to.sums.get(tool) ?? 0}`;
        for (const name of names) to.report(name, false, group);
      }
      for (const [tool, many] of to.sums) to.whole.add(`${tool} ${many}`);
      if (to.isCut) to.whole.clear(); // N1
      return { passed: to.passed, failed: to.failed, whole: to.whole };
    },
  };
}

/** The names in several outputs of one command together. */
export function together(reported: readonly ReportedNames[]): ReportedNames {
  return {
    passed: new Set(reported.flatMap(({ passed }) => [...passed])),
    failed: new Map(reported.flatMap(({ failed }) => [...failed])),
    whole: new Set(reported.flatMap(({ whole }) => [...whole])),
  };
}

/** As evidence keeps them. */
export const keptNames = ({ passed, failed, whole }: ReportedNames): TestNames => ({
  passed: [...passed].slice(0, passedMax),
  failed: [...failed.keys()].slice(0, failedMax),
  whole: [...whole].slice(0, passedMax),
});

/** What a command reported on the base and does not report now, though it reports tests in the same way. */
export function unrunSince(before: TestNames, now: ReportedNames): readonly string[] {
  if (now.passed.size === 0 || before.passed.length >= passedMax || now.passed.size >= passedMax) return []; // N1
  return before.passed.filter((name) => !now.passed.has(name) && !now.failed.has(name));
}

/**
 * Tests that passed before anything was changed and fail now, in every run. `isSameJudge`: the protected files are unchanged, so that a
 * name which is not among the earlier failures of a group that was run whole had passed.
 */
export function brokenSince(before: TestNames, runs: readonly ReportedNames[], isSameJudge: boolean): readonly string[] {
  const [first] = runs;
  if (first === undefined) return [];
  const [passed, failed, whole] = [new Set(before.passed), new Set(before.failed), new Set(before.whole)];
  const hasPassed = (name: string, group: Group): boolean => passed.has(name) || (isSameJudge && group !== null && whole.has(group)); // N1
  // A name that also passes belongs to two tests, and which of them was meant before is unknown.
  const fails = (name: string): boolean => runs.every((run) => run.failed.has(name) && !run.passed.has(name));
  return [...first.failed].filter(([name, group]) => !failed.has(name) && hasPassed(name, group) && fails(name)).map(([name]) => name);
}
