import { expect, test } from "vitest";
import { describeSkippedTests, findLostTests, findUnrunKept } from "./lost-tests.ts";

const lost = (before: string, now: readonly string[], paths: readonly string[]) =>
  findLostTests(
    { passed: ["stays", before], failed: [], whole: [] },
    { passed: new Set(["stays", ...now]), failed: new Map(), whole: new Set() },
    async () => paths,
  );

test.each([
  [
    "test_a (tests.test_lexer.Lexer.test_a)",
    "test_a (tests.test_tokens.Tokens.test_a)",
    "tests/test_lexer.py",
  ],
  ["tests/test_lexer.py::test_a", "tests/test_tokens.py::test_a", "tests/test_lexer.py"],
  ["test/a.test.js > adds", "test/math/b.test.js > adds", "test/a.test.js"],
])("a test whose file was moved is not lost: %s", async (before, now, path) => {
  expect(await lost(before, [now], [])).toEqual([]);
  expect(await lost(before, [now], [path])).toEqual([before]); // its file is there, and it does not run
  expect(await lost(before, [], [])).toEqual([before]);
});

test("one of a Rust module may have gone to another module", async () => {
  expect(await lost("tests::lexes", ["lexer::tests::lexes"], [])).toEqual([]);
  expect(await lost("tests::lexes", ["lexer::tests::parses"], [])).toEqual(["tests::lexes"]);
});

test("a test without a file in its name is lost, whatever is new", async () => {
  expect(await lost("adds", ["math > adds"], [])).toEqual(["adds"]);
});

test("in a scope that allows tests to be removed, those that are still there have to run", async () => {
  const before = {
    passed: ["roman > reads", "roman > writes"],
    failed: ["roman > refuses"],
    whole: [],
  };

  const text = (...names: readonly string[]) =>
    names.map((name) => `it("${name}", () => {\n  check();\n});\n`).join("");
  const unrun = (now: readonly string[], files: Readonly<Record<string, string>>) =>
    findUnrunKept(
      before,
      { passed: new Set(now), failed: new Map(), whole: new Set() },
      { paths: async () => Object.keys(files), textOf: async (path) => files[path] ?? null },
    );

  const moved = { "test/unit/roman.test.js": text("reads", "writes", "refuses") };
  expect(await unrun(["new > reads good ones"], moved)).toEqual([
    "roman > reads",
    "roman > writes",
    "roman > refuses",
  ]);

  expect(await unrun(["roman > reads", "roman > writes", "roman > refuses"], moved)).toEqual([]);
  expect(
    await unrun(["numerals > reads", "numerals > writes", "numerals > refuses"], moved),
  ).toEqual([]); // under another heading

  expect(
    await unrun(["new > reads good ones"], { "test/new.test.js": text("reads good ones") }),
  ).toEqual([]); // removed

  expect(await unrun([], moved)).toEqual([]); // nothing is named
});

test("a pass whose tests were all skipped ran none", () => {
  expect(describeSkippedTests(null, { ran: 0, failed: 0, skipped: 2 })).toBe(
    "it ran no test: 2 are skipped or ignored",
  );

  expect(describeSkippedTests(null, { ran: 1, failed: 0, skipped: 2 })).toBeNull();
  expect(describeSkippedTests(null, { ran: 0, failed: 0, skipped: 0 })).toBeNull();
  expect(describeSkippedTests(null, null)).toBeNull();
});

test("a pass that skips more than before is told, if tests ran then", () => {
  const before = (skipped: number, ran = 3, ...failed: readonly string[]) => ({
    tests: { ran, failed: failed.length, skipped },
    names: { passed: [], failed: [...failed], whole: [] },
  });

  const now = { ran: 4, failed: 0, skipped: 2 };
  expect(describeSkippedTests(before(1, 3, "a > adds"), now)).toBe(
    "it skips a test more than before the work",
  );

  expect(describeSkippedTests(before(2), now)).toBeNull();
  expect(describeSkippedTests(before(0, 0), now)).toBeNull();
  const unloaded = ["test/mul.test.js", "test_mul (unittest.loader._FailedTest.test_mul)"];
  for (const name of unloaded) expect(describeSkippedTests(before(0, 3, name), now)).toBeNull();
});
