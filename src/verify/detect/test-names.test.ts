// Which tests passed and failed, as test runners print it, and which of them broke.

import { describe, expect, test } from "vitest";
import { openTestOutput } from "../read-test-output.ts";
import { findBrokenTests, toTestNames, findUnrunTests } from "./test-names.ts";

function reported(output: string, command = "") {
  const testOutput = openTestOutput(command, ["/somewhere/check"]);
  testOutput.readStdout(Buffer.from(output));
  return testOutput.take(() => false).names;
}
const broken = (before: string, now: string, isSameJudge = true) =>
  findBrokenTests(toTestNames(reported(before)), [reported(now)], isSameJudge);

const tap = (one: string, two: string): string =>
  `TAP version 13\n# Subtest: top\n${one} 1 - top\n  ---\n  duration_ms: 1\n  ...\n# Subtest: suite\n    # Subtest: inner\n    ${two} 1 - inner\n    1..1\nnot ok 2 - suite\n`;
const spec = (one: string, two: string): string =>
  `${one} top (1.07ms)\n▶ suite\n  ${two} inner (2ms)\n✖ suite (3ms)\nℹ tests 2\n`;
const mocha = (one: string, two: string): string =>
  `\n  suite\n    ${one} first\n    ${two} second (12ms)\n\n  1 passing (5ms)\n  1 failing\n`;
const pytest = (name: string): string =>
  `tests/test_a.py .F   [100%]\n\nFAILED tests/test_a.py::${name} - assert 1 == 2\n==== 1 failed, 1 passed in 0.02s ====\n`;
const unittest = (name: string): string =>
  `.F\nFAIL: ${name} (tests.test_a.A.${name})\n----\nRan 2 tests in 0.001s\n\nFAILED (failures=1)\n`;
const vitest = (name: string): string =>
  ` ❯ a.test.ts (2 tests | 1 failed) 8ms\n ✓ c.test.ts (1 test) 3ms\n\n FAIL  a.test.ts > suite > ${name}\nAssertionError\n`;
const jest = (name: string): string =>
  `PASS test/c.test.js\nFAIL test/a.test.js (5.1 s)\n  ● suite › ${name}\n\n    expected 1\n`;
const go = (name: string): string =>
  `--- FAIL: ${name} (0.00s)\n    a_test.go:3: no\nFAIL\nFAIL\texample.org/a\t0.01s\nok  \texample.org/b\t0.01s\n`;
const cargo = (one: string, two: string): string =>
  `running 2 tests\ntest tests::one ... ${one}\ntest tests::two ... ${two}\n`;
const ctest = (one: string, two: string): string =>
  `1/2 Test #1: one .............${one}  0.01 sec\n2/2 Test #2: two ........${two}  0.00 sec\n`;
const maven = (one: string, two: string): string =>
  `[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s${one} -- in x.ATest\n[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s${two} -- in x.BTest\n`;
const fails = " <<< FAILURE!";

describe("one fixed and another broken is found in what is printed by", () => {
  test.each<[string, string, string, string]>([
    ["node", tap("not ok", "ok"), tap("ok", "not ok"), "suite > inner"],
    ["node, for people", spec("✖", "✔"), spec("✔", "✖"), "suite > inner"],
    ["mocha", mocha("1)", "✔"), mocha("✔", "1)"), "suite > second"],
    ["pytest", pytest("test_x"), pytest("test_y"), "tests/test_a.py::test_y"],
    [
      "pytest -v",
      "t.py::a FAILED [ 50%]\nt.py::b PASSED [100%]\n",
      "t.py::a PASSED [ 50%]\nt.py::b FAILED [100%]\n",
      "t.py::b",
    ],
    ["unittest", unittest("test_x"), unittest("test_y"), "test_y (tests.test_a.A.test_y)"],
    ["vitest", vitest("x"), vitest("y"), "a.test.ts > suite > y"],
    [
      "vitest, a file that no longer loads",
      vitest("x"),
      " ❯ c.test.ts (0 test)\n FAIL  c.test.ts [ c.test.ts ]\n",
      "c.test.ts",
    ],
    ["jest", jest("x"), jest("y"), "test/a.test.js > suite › y"],
    [
      "jest, another file",
      jest("x"),
      "FAIL test/c.test.js\n  ● Test suite failed to run\n",
      "test/c.test.js",
    ],
    ["go", go("TestX"), go("TestY"), "example.org/a TestY"],
    ["go, another package", go("TestX"), "FAIL\texample.org/b [build failed]\n", "example.org/b"],
    ["cargo", cargo("FAILED", "ok"), cargo("ok", "FAILED"), "tests::two"],
    [
      "deno",
      "one ... FAILED (2ms)\ntwo ... ok (1ms)\n",
      "one ... ok (2ms)\ntwo ... FAILED (1ms)\n",
      "two",
    ],
    ["ctest", ctest("***Failed", "   Passed"), ctest("   Passed", "***Failed"), "two"],
    [
      "prove, another file",
      "t/a.t .. ok\n#   Failed test 'x'\n",
      "#   Failed test 'x'\nt/a.t (Wstat: 512 (exited 2) Tests: 4 Failed: 2)\n",
      "t/a.t",
    ],
    ["maven", maven(fails, ""), maven("", fails), "x.BTest"],
    [
      "gradle",
      "ATest > x() FAILED\n2 tests completed, 1 failed\n",
      "ATest > y() FAILED\n2 tests completed, 1 failed\n",
      "ATest > y()",
    ],
    [
      "rspec",
      "2 examples, 1 failure\nrspec ./spec/a_spec.rb:3 # A x\n",
      "2 examples, 1 failure\nrspec ./spec/a_spec.rb:9 # A y\n",
      "./spec/a_spec.rb:9",
    ],
    [
      "phpunit",
      "1) ATest::x\nTests: 2, Assertions: 2, Failures: 1.\n",
      "1) ATest::y\nTests: 2, Assertions: 2, Failures: 1.\n",
      "ATest::y",
    ],
  ])("%s", (_name, before, now, name) => {
    expect(broken(before, now)).toContain(name);
    expect(broken(before, before)).toEqual([]);
    expect(broken(now, now)).toEqual([]);
  });
});

describe("nothing is called broken that may have failed before", () => {
  test("what was not come to then: a later package, a later run, what a first failure or a panic kept from running", () => {
    expect(
      broken(cargo("FAILED", "ok"), `${cargo("ok", "ok")}test other::three ... FAILED\n`),
    ).toEqual([]);

    expect(
      broken(
        pytest("test_x"),
        "== 2 passed in 0.1s ==\nFAILED it/test_b.py::test_z\n== 1 failed in 0.1s ==\n",
      ),
    ).toEqual([]);

    expect(
      broken(
        `!!!!!!!!! stopping after 1 failures !!!!!!!!!\n${pytest("test_x")}`,
        pytest("test_y"),
      ),
    ).toEqual([]);

    expect(broken(`panic: nil\n${go("TestX")}`, go("TestY"))).toEqual([]);
    const cut = toTestNames(reported(unittest("test_x"), "python3 -m unittest --failfast"));
    expect(findBrokenTests(cut, [reported(unittest("test_y"))], true)).toEqual([]);
  });

  test("what is new, skipped or to do", () => {
    expect(broken(tap("not ok", "ok"), `${tap("ok", "ok")}not ok 3 - quite new\n`)).toEqual([]);
    expect(broken("ok 1 - a # SKIP\nok 2 - b # TODO\n", "not ok 1 - a\nnot ok 2 - b\n")).toEqual(
      [],
    );

    expect(broken("ok 1 - a\n", "not ok 1 - a # TODO\n")).toEqual([]);
  });

  test("what bears a name that something else failed by, or passes by", () => {
    expect(broken("ok 1 - works\nnot ok 2 - works\n", "not ok 1 - works\nok 2 - works\n")).toEqual(
      [],
    );

    expect(
      broken(
        "ok 1 - works\nnot ok 2 - /somewhere/check/b.test.js\n",
        "ok 1 - works\nnot ok 2 - works\n",
      ),
    ).toEqual([]);
  });

  test("where the tests themselves were changed by leave, what was not told to pass", () => {
    expect(broken(pytest("test_old_name"), pytest("test_new_name"), false)).toEqual([]);
    expect(broken(cargo("FAILED", "ok"), cargo("ok", "FAILED"), false)).toEqual(["tests::two"]);
  });

  test("what fails in one run and passes in the next", () => {
    const before = toTestNames(reported(cargo("FAILED", "ok")));
    expect(
      findBrokenTests(
        before,
        [reported(cargo("FAILED", "FAILED")), reported(cargo("FAILED", "ok"))],
        true,
      ),
    ).toEqual([]);
  });
});

test.each([
  "✖ 53 problems (0 errors, 53 warnings)",
  "✖ 1 problem (1 error, 0 warnings)",
  "  × 2 errors",
])("a linter's sum is no test: %s", (line) =>
  expect([...reported(`✔ adds (1ms)\n${line}\n`).failed.keys()]).toEqual([]),
);

test("the folder a check ran in is no part of a name", () =>
  expect(
    broken("not ok 1 - a\nok 2 - /somewhere/check/test/b.js\n", "ok 1 - a\nnot ok 2 - test/b.js\n"),
  ).toEqual(["test/b.js"]));

test("tests that are no longer told of are found by their names", () => {
  const before = toTestNames(reported("ok 1 - one\nok 2 - two\nnot ok 3 - three\n"));
  expect(findUnrunTests(before, reported("ok 1 - one\nok 2 - three\n"))).toEqual(["two"]);
  expect(findUnrunTests(before, reported("ok 1 - one\nok 2 - two\nok 3 - three\n"))).toEqual([]);
  expect(findUnrunTests(before, reported("all is well\n"))).toEqual([]); // it names no tests at all
});

test("a file that passes whole, and whose tests are not named then, has lost none", () => {
  const before = toTestNames(
    reported(
      " ❯ test/a.test.js (2 tests | 1 failed) 5ms\n     × of two 3ms\n     ✓ of nothing 1ms\n FAIL  test/a.test.js > of two\n",
    ),
  );
  expect(before.passed).toContain("test/a.test.js > of nothing");
  expect(findUnrunTests(before, reported(" ✓ test/a.test.js (2 tests) 4ms\n"))).toEqual([]);
  expect(findUnrunTests(before, reported(" ✓ test/b.test.js (2 tests) 4ms\n"))).toContain(
    "test/a.test.js > of nothing",
  );
});

test("a test of cargo that fails with -q is named", () => {
  const quiet = "running 2 tests\n. 1/2\ntests::one --- FAILED\n\nfailures:\n";
  expect(toTestNames(reported(quiet)).failed).toEqual(["tests::one"]);
});
