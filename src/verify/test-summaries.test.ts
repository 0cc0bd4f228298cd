// What test runners say of themselves, and what it means when they say less than before.

import { describe, expect, test } from "vitest";
import { openTestOutput } from "./read-test-output.ts";
import { explainLesserProof } from "./test-summaries.ts";

const tallyIn = (output: string, isOfTests: (path: string) => boolean = () => false) => {
  const testOutput = openTestOutput("", ["/nowhere"]);
  testOutput.readStdout(Buffer.from(output));
  return testOutput.take(isOfTests).tests;
};

describe("a summary is read as it is printed by", () => {
  test.each([
    [
      "node",
      "# tests 5\n# suites 0\n# pass 3\n# fail 1\n# cancelled 0\n# skipped 1\n# todo 0\n",
      { ran: 4, failed: 1, skipped: 1 },
    ],
    [
      "node, for people",
      "ℹ tests 2\nℹ pass 2\nℹ fail 0\nℹ skipped 0\n",
      { ran: 2, failed: 0, skipped: 0 },
    ],
    [
      "jest",
      "Tests:       1 failed, 2 skipped, 3 passed, 6 total\n",
      { ran: 4, failed: 1, skipped: 2 },
    ],
    [
      "vitest",
      "\u001b[2m      Tests \u001b[22m 1 failed | 2 passed | 1 skipped (4)\n",
      { ran: 3, failed: 1, skipped: 1 },
    ],
    [
      "pytest",
      "==== 1 failed, 2 passed, 1 xfailed, 1 error, 3 skipped in 0.02s ====\n",
      { ran: 4, failed: 2, skipped: 4 },
    ],
    [
      "pytest with parts of a test",
      "SUBFAILED(i=1) test_a.py::A::test_x - E\nSUBFAILED(i=3) test_a.py::A::test_x - E\n=== 2 failed, 2 passed in 0.67s ===\n",
      { ran: 2, failed: 1, skipped: 0 },
    ],
    [
      "unittest with parts of a test",
      "FAIL: test_x (test_a.A.test_x) (i=1)\nFAIL: test_x (test_a.A.test_x) (i=3)\nRan 2 tests in 0.001s\n\nFAILED (failures=2)\n",
      { ran: 2, failed: 1, skipped: 0 },
    ],
    ["pytest -q", "2 passed in 0.01s\n", { ran: 2, failed: 0, skipped: 0 }],
    [
      "unittest",
      "Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=2)\n",
      { ran: 3, failed: 2, skipped: 2 },
    ],
    ["mocha", "  3 passing (12ms)\n  1 pending\n  2 failing\n", { ran: 5, failed: 2, skipped: 1 }],
    [
      "cargo",
      "running 2 tests\ntest result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\nrunning 0 tests\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n",
      { ran: 2, failed: 0, skipped: 1 },
    ],
    [
      "maven",
      "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s\n[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1\n",
      { ran: 4, failed: 2, skipped: 1 },
    ],
    ["deno", "ok | 3 passed | 0 failed (5ms)\n", { ran: 3, failed: 0, skipped: 0 }],
    ["phpunit", "OK (3 tests, 5 assertions)\n", { ran: 3, failed: 0, skipped: 0 }],
    [
      "phpunit, failing",
      "Tests: 5, Assertions: 7, Failures: 1, Errors: 1, Skipped: 1.\n",
      { ran: 4, failed: 2, skipped: 1 },
    ],
    ["rspec", "4 examples, 1 failure, 1 pending\n", { ran: 3, failed: 1, skipped: 1 }],
    ["gradle", "5 tests completed, 2 failed, 1 skipped\n", { ran: 4, failed: 2, skipped: 1 }],
    ["ctest", "50% tests passed, 1 tests failed out of 2\n", { ran: 2, failed: 1, skipped: 0 }],
    [
      "prove",
      "t/a.t .. ok\nt/b.t  (Wstat: 512 (exited 2) Tests: 4 Failed: 2)\n  Failed tests:  1-2\nFiles=2, Tests=9,  0 wallclock secs\nResult: FAIL\n",
      { ran: 9, failed: 2, skipped: 0 },
    ],
    ["eslint", "✖ 12 problems (10 errors, 2 warnings)\n", { ran: 0, failed: 10, skipped: 0 }],
    [
      "tsc",
      "src/a.ts(1,2): error TS2345: no\nsrc/b.ts(1,2): error TS2345: no\n",
      { ran: 0, failed: 2, skipped: 0 },
    ],
  ])("%s", (_name, output, tally) => expect(tallyIn(output)).toEqual(tally));
});

test("two packages' summaries are added up, and what is in no known form has no tally", () => {
  expect(tallyIn("2 passed in 0.01s\n3 passed, 1 failed in 1s\n")).toMatchObject({
    ran: 6,
    failed: 1,
  });

  expect(tallyIn("all good\n4 things passed the gate\nok  \texample.org/x\t0.1s\n")).toBeNull();
});

describe("tests that something ended before their time", () => {
  const leaf = (path: string): string =>
    `TAP version 13\n# Subtest: ${path}\nok 1 - ${path}\n  ---\n# tests 1\n# pass 1\n# fail 0\n`;
  test("a file of tests that node counts as one test holds none that was run; a plain script is one", () => {
    expect(tallyIn(leaf("/c/test/a.test.js"), () => true)).toMatchObject({ empty: 1 });
    expect(tallyIn("✔ test/a.test.js (12.5ms)\nℹ pass 1\n", () => true)).toMatchObject({
      empty: 1,
    });

    expect(tallyIn(leaf("/c/test/plain.js"), () => false)?.empty).toBeUndefined();
    expect(
      tallyIn("# Subtest: /c/a.js\n    ok 1 - adds\nok 1 - /c/a.js\n# pass 1\n", () => true)?.empty,
    ).toBeUndefined();
  });

  test("a program of cargo that began and told no end", () =>
    expect(
      tallyIn(
        "running 3 tests\n\nrunning 1 test\ntest result: ok. 1 passed; 0 failed; 0 ignored\n",
      ),
    ).toMatchObject({ empty: 1 }));
});

test("less than before is found; as much, more, or nothing to compare with is not", () => {
  const of = (ran: number, skipped = 0) => ({ ran, failed: 0, skipped });
  expect(explainLesserProof(of(4), null)).toContain("no test that it tells of, and 4 before");
  expect(explainLesserProof(of(4), of(0, 4))).toContain("no test");
  expect(explainLesserProof(of(4), of(3, 1))).toContain("skipped tests that it ran before");
  expect(explainLesserProof(of(0), { ...of(1), empty: 1 })).toContain("ended before they were run");
  expect(explainLesserProof({ ...of(1), empty: 1 }, { ...of(1), empty: 1 })).toBeNull();
  for (const now of [of(4), of(9), of(3), of(4, 2)])
    expect(explainLesserProof(of(4), now)).toBeNull();
  expect(explainLesserProof(of(0), null)).toBeNull();
});
