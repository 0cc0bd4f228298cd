import { describe, expect, test } from "vitest";
import { findTestCases } from "../source-text/test-cases.ts";
import { areFailuresAttributed, findOmittableFiles } from "./needed-test-files.ts";

const paths = ["src/a.js", "test/a.test.js", "test/b.test.js", "test/c.test.js", "test/near.js"];
const kept = new Set(["test/a.test.js"]);
const texts = {
  used: ["npm test", "node --test"],
  textOf: () => 'import { near } from "./near.js";\n',
};

describe("what an experiment can leave out", () => {
  test("are the other files of tests that their runner finds by name, and nothing that they may need", () => {
    expect(findOmittableFiles(paths, kept, texts)).toEqual(["test/b.test.js", "test/c.test.js"]);
    expect(
      findOmittableFiles(
        ["tests/test_a.py", "tests/test_b.py", "tests/conftest.py"],
        new Set(["tests/test_a.py"]),
        texts,
      ),
    ).toEqual(["tests/test_b.py"]);
  });

  test.each([
    ["where nothing is known to matter", paths, new Set<string>(), texts],
    ["where one that matters is found by no name", paths, new Set(["test/near.js"]), texts],
    [
      "where the command names one",
      paths,
      kept,
      { ...texts, used: ["node --test test/a.test.js test/b.test.js"] },
    ],
    [
      "where one that matters names another",
      paths,
      kept,
      { ...texts, textOf: () => 'import { made } from "./b.test.js";\n' },
    ],
    [
      "where it would save little",
      paths.slice(0, 3),
      new Set(["test/a.test.js", "test/b.test.js"]),
      texts,
    ],
  ])("is nothing %s", (_says, all, those, given) =>
    expect(findOmittableFiles(all, those, given)).toEqual([]),
  );
});

test("failures before the work are explained where each is of a test that is known, of its file, or of a group of such", () => {
  const tests = findTestCases(
    "test/a.test.js",
    'test("adds", () => {\n  assert.equal(add(1, 2), 3);\n});\n',
  );

  const before = (...failed: string[]) => ({ passed: false, failed: new Set(failed), tests: null });
  expect(areFailuresAttributed(before("sums > adds", "sums"), tests)).toBe(true);
  expect(areFailuresAttributed(before("test/a.test.js"), tests)).toBe(true);
  expect(areFailuresAttributed(before("adds", "something else"), tests)).toBe(false);
  expect(areFailuresAttributed(null, tests)).toBe(false);
});
