import { expect, test } from "vitest";
import { openTestOutput } from "./read-test-output.ts";
import { openFailingLines } from "./collect-failing-lines.ts";

const failingOf = (lines: readonly string[]): readonly string[] => {
  const reader = openFailingLines();
  for (const line of lines) reader.addLine(line);
  return reader.take();
};

test.each([
  ["node, TAP", "not ok 3 - adds weeks"],
  ["vitest", " FAIL  src/a.test.ts > adds weeks"],
  ["jest", "  ● date › adds weeks"],
  ["mocha", "  1) date adds weeks:"],
  ["pytest", "FAILED tests/test_date.py::test_weeks - assert 1 == 2"],
  ["pytest, its reason", "E       assert 1 == 2"],
  ["unittest", "FAIL: test_weeks (date.Test)"],
  ["go", "--- FAIL: TestWeeks (0.00s)"],
  ["cargo", "test date::weeks ... FAILED"],
  ["rustc", "error[E0308]: mismatched types"],
  ["tsc", "src/a.ts(3,5): error TS2322: Type 'string' is not assignable"],
  ["gcc", "date.c:3:5: error: expected ';'"],
  ["node", "TypeError [ERR_X]: weeks is not a function"],
  ["ctest", " 3/14 Test  #3: weeks ............***Failed    0.01 sec"],
])("%s: the line of a failure is kept", (_tool, line) => {
  expect(failingOf(["all is well", line, "done"])).toEqual([line]);
});

test("what passed, and a sum without a failure, is none", () => {
  const fine = [
    "ok 1 - adds",
    "Tests: 0 failed, 3 passed",
    "PASSED tests/test_a.py::test_b",
    "✔ adds (1ms)",
    "# fail 0",
    "errors handled: 3",
  ];
  expect(failingOf(fine)).toEqual([]);
});

test("they are bounded, each is told once, and they are found however much is printed after them", () => {
  const testOutput = openTestOutput("x", ["/f"]);
  testOutput.readStdout(Buffer.from("not ok 1 - first\nnot ok 1 - first\n"));

  for (let index = 0; index < 5_000; index++) {
    testOutput.readStdout(Buffer.from(`fine, line ${index}\n`));
  }

  for (let index = 0; index < 100; index++) {
    testOutput.readStderr(Buffer.from(`Error: number ${index} ${"x".repeat(1_000)}\n`));
  }

  expect(testOutput.lastLine()).toMatch(/^Error: number 99 x+$/);
  const { failing } = testOutput.take(() => false);
  expect([failing.length, failing[0], Math.max(...failing.map(({ length }) => length))]).toEqual([
    20,
    "not ok 1 - first",
    300,
  ]);
});
