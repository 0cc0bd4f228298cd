import { expect, test } from "vitest";
import { describeSkippedTests, findLostTests } from "./lost-tests.ts";

const lost = (before: string, now: readonly string[], paths: readonly string[]) =>
  findLostTests(
    { passed: ["stays", before], failed: [], whole: [] },
    { passed: new Set(["stays", ...now]), failed: new Map(), whole: new Set() },
    async () => paths,
  );

test.each([
  ["test_a (tests.test_lexer.Lexer.test_a)", "test_a (tests.test_tokens.Tokens.test_a)", "tests/test_lexer.py"],
  ["tests/test_lexer.py::test_a", "tests/test_tokens.py::test_a", "tests/test_lexer.py"],
  ["test/a.test.js > adds", "test/math/b.test.js > adds", "test/a.test.js"],
])("a test whose file was moved is not lost: %s", async (before, now, path) => {
  expect(await lost(before, [now], [])).toEqual([]);
  expect(await lost(before, [now], [path])).toEqual([before]); // its file is there, and it does not run
  expect(await lost(before, [], [])).toEqual([before]);
});

test("a test without a file in its name is lost, whatever is new", async () => {
  expect(await lost("adds", ["math > adds"], [])).toEqual(["adds"]);
});

test("a pass whose tests were all skipped ran none", () => {
  expect(describeSkippedTests({ ran: 0, failed: 0, skipped: 2 })).toBe("it ran no test: 2 are skipped or ignored");
  expect(describeSkippedTests({ ran: 1, failed: 0, skipped: 2 })).toBeNull();
  expect(describeSkippedTests({ ran: 0, failed: 0, skipped: 0 })).toBeNull();
  expect(describeSkippedTests(null)).toBeNull();
});
