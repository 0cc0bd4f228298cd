import { describe, expect, test } from "vitest";
import { findTestCases } from "../source-text/test-cases.ts";
import { applyFlips } from "./flip.ts";
import { findNoticedFlips, type Observed } from "./noticed-flips.ts";
import {
  findTestFlips,
  filterDeciding,
  filterRunFiles,
  findSilentTests,
  findAddedIdentifiers,
} from "./deciding-tests.ts";

const python =
  "import unittest\n\nclass T(unittest.TestCase):\n    def test_old(self):\n        self.assertEqual(add(1, 2), 3)\n\n    def test_new(self):\n        self.assertEqual(mul(3, 4), 12)\n";
const seen = (failed: readonly string[], held: readonly string[] = []): Observed => ({
  passed: failed.length === 0,
  failed: new Set(failed),
  tests: { ran: 2, failed: failed.length, skipped: 0 },
  passedNames: new Set(held),
});

describe("the tests of a file", () => {
  test.each([
    [
      "a.test.js",
      "test('adds', () => {\n  f();\n});\n\nit.each([1])('is %s', (n) => {});\n",
      [
        ["adds", 1, 3],
        ["is %s", 5, 5],
      ],
    ],
    [
      "b.test.js",
      "for (const f of files)\n  test('reads ' + f, () => {\n    g(f);\n  });\ntest(name, h);\n",
      [
        ["reads %s", 2, 4],
        ["a test", 5, 5],
      ],
    ],
    [
      "test_a.py",
      "@mark(\n    1,\n)\ndef test_a(\n    x,\n):\n    f()\n\n    g()\n\ndef helper():\n    f()\n",
      [["test_a", 1, 9]],
    ],
    ["a_test.go", "func TestA(t *testing.T) {\n\tf()\n}\n", [["TestA", 1, 3]]],
    [
      "t/a.t",
      "use Test::More;\nis(f(1), 2, 'adds');\nis f(2),\n  3;\nok 1, \"$n of $c->[0]\" if 1; # is(1, 2, 'no')\n",
      [
        ["adds", 2, 2],
        ["is f(2),", 3, 4],
        ["%s of %s", 5, 5],
      ],
    ],
    ["lib.rs", "mod tests {\n  #[test]\n  fn adds() { f(); }\n}\n", [["adds", 2, 3]]],
  ])("%s", (path, text, wanted) => {
    expect(findTestCases(path, text).map(({ name, from, to }) => [name, from, to])).toEqual(
      wanted.map(([name, from, to]) => [name, from, to]),
    );
  });

  test("of Perl have the names that are reported for them", () => {
    const [adds, second, of] = findTestCases(
      "t/a.t",
      "is(f(1), 2, 'adds');\nis f(2), 3;\nok 1, \"$n of $c->[0]\";\n",
    );
    const isNamed = (name: string, one = adds): boolean => one?.title?.test(name) === true;
    expect([
      isNamed("adds"),
      isNamed("many > adds"),
      isNamed("t/a.t line 2", second),
      isNamed("3 of 4", of),
    ]).toEqual([true, true, true, true]);

    expect([isNamed("subtracts"), isNamed("t/a.t line 1", second), isNamed("3 for 4", of)]).toEqual(
      [false, false, false],
    );
  });

  test("that Perl skips or expects to fail are known", () =>
    expect(
      findTestCases(
        "t/a.t",
        "TODO: {\n  local $TODO = 'x';\n  is(f(), 1, 'a');\n}\nis(f(), 1, 'b');\n",
      ).map(({ isSkipped }) => isSkipped),
    ).toEqual([true, false]));

  test("that say they are skipped are known", () =>
    expect(
      findTestCases("test_a.py", "@pytest.mark.xfail\ndef test_a():\n    assert f() == 1\n")[0]
        ?.isSkipped,
    ).toBe(true));
});

describe("a pass rests on", () => {
  const cases = findTestCases("tests/test_a.py", python);
  const names = (before: Observed | null, wasRed: boolean, then = cases) =>
    filterDeciding(cases, then, before, wasRed).map(({ name }) => name);
  test.each([
    [
      "the tests that failed before",
      seen(["test_new (tests.test_a.T.test_new)"]),
      true,
      ["test_new"],
    ],
    [
      "all of a file that could not be read",
      seen(["tests.test_a (unittest.loader._FailedTest.tests.test_a)"]),
      true,
      ["test_old", "test_new"],
    ],
    ["all, where nobody knows which failed", null, true, ["test_old", "test_new"]],
    [
      "all but what passed, where a failure has no name here",
      seen(["other"], ["test_old (tests.test_a.T.test_old)"]),
      true,
      ["test_new"],
    ],
    ["no test, where it passed before and none is new", seen([]), false, []],
  ])("%s", (_says, before, wasRed, wanted) => expect(names(before, wasRed)).toEqual(wanted));

  test("new tests, where it passed before", () =>
    expect(names(seen([]), false, cases.slice(0, 1))).toEqual(["test_new"]));
});

describe("what one test does not notice no other makes up for", () => {
  const path = "tests/test_a.py";
  const texts = new Map([[path, python]]);

  const tests = findTestFlips(findTestCases(path, python), () => python, {
    seed: "s",
    nonce: "n0",
    words: findAddedIdentifiers([{ was: null, is: "def mul(a, b)" }]),
  });
  const flips = tests.flatMap(({ flips }) => flips.slice(0, 1));
  const before = seen([]);
  const after = (...failed: string[]) => findNoticedFlips(flips, before, seen(failed), texts);

  test("each is broken where it expects something", () =>
    expect(flips.map(({ broken }) => broken.trim())).toEqual([
      expect.stringMatching(/^self\.assertEqual\(add\(1, 2\), [24]\)$/),
      expect.stringMatching(/^self\.assertEqual\(mul\(3, 4\), 1[13]\)$/),
    ]));

  test("one that fails answers for itself alone", () => {
    const found = after("test_old (tests.test_a.T.test_old)");
    expect([found.noticed.length, found.missed.map(({ line }) => line)]).toEqual([1, [8]]);
  });

  test("nor does a failing test of unknown name", () =>
    expect(after("x", "y").missed).toHaveLength(2));

  test("a runner that names assertions and no tests has to count as many", () => {
    const text =
      'test("a", (t) => {\n  t.equal(f(), 1);\n});\n\ntest("b", (t) => {\n  t.equal(g(), 2);\n});\n';
    const two = findTestFlips(findTestCases("test/a.js", text), () => text, {
      seed: "s",
      nonce: "n0",
      words: new Set(),
    }).flatMap(({ flips }) => flips.slice(0, 1));

    const missedOf = (failed: number) =>
      findNoticedFlips(
        two,
        before,
        { ...seen(["should be equal"]), tests: { ran: 2, failed, skipped: 0 } },
        new Map([["test/a.js", text]]),
      ).missed.length;
    expect([missedOf(2), missedOf(1)]).toEqual([0, 1]);
  });

  const ask = (isRun: boolean) =>
    findSilentTests(tests.slice(1), after("test_old (tests.test_a.T.test_old)"), {
      runFlips: (some) => Promise.resolve(findNoticedFlips(some, before, seen([]), texts)),
      run: () =>
        Promise.resolve(
          isRun ? seen(["tests.test_a (unittest.loader._FailedTest.tests.test_a)"]) : seen([]),
        ),
      textOf: () => python,
    });
  test("what stays green alone too is told by name", async () =>
    expect(await ask(true)).toMatchObject({
      silent: [{ test: { name: "test_new" }, flip: { line: 8 } }],
    }));

  test("unless the check does not run its file", async () =>
    expect(await ask(false)).toMatchObject({ silent: [] }));
});

describe("a check that names all tests that ran", () => {
  const run = findTestCases("tests/a.rs", "#[test]\nfn adds() {\n}\n");
  const notRun = findTestCases("crates/b/src/lib.rs", "#[test]\nfn reads() {\n}\n");
  const now = (ran: number): Observed => ({
    ...seen([], ["adds"]),
    tests: { ran, failed: 0, skipped: 0 },
  });

  test("is not asked about files that it does not run (R5)", () => {
    expect(filterRunFiles([...run, ...notRun], now(1))).toEqual(run);
  });

  test("is asked about all if it may not have named each", () => {
    expect(filterRunFiles([...run, ...notRun], now(2))).toEqual([...run, ...notRun]);
  });
});

test("tests in one line are told apart by what is changed in them", () => {
  const path = "a.test.js";
  const text = "it('adds', () => equal(add(2, 3), 5)); it('more', () => equal(add(20, 13), 33));\n";
  const tests = filterDeciding(findTestCases(path, text), [], null, false);
  expect(tests.map(({ name }) => name)).toEqual(["adds", "more"]);

  const deciding = findTestFlips(tests, () => text, { seed: "", nonce: "n", words: new Set() });
  const flips = deciding.map(({ flips: [flip] }) => flip).filter((flip) => flip !== undefined);
  const edited = applyFlips(text, flips) ?? "";
  expect(edited).not.toContain("3), 5)");
  expect(edited).not.toContain("13), 33)");

  const texts = new Map([[path, text]]);
  const before = { failed: new Set<string>(), tests: null, passed: true };
  const both = findNoticedFlips(flips, before, seen(["adds", "more"]), texts);
  expect(both).toMatchObject({ noticed: flips, missed: [], otherFailures: [] });
  expect(findNoticedFlips(flips, before, seen(["more"]), texts).missed).toEqual([flips[0]]);
});
