import { expect, test } from "vitest";
import { findNamedFiles } from "./golden-files.ts";

const tests = [
  {
    path: "test/md.test.js",
    text: "for (const file of readdirSync('samples')) read(`samples/${file}`); open('data/one.txt');",
  },
];
const paths = [
  "data/one.out",
  "samples/a.md",
  "samples/a.html",
  "data/one.txt",
  "data/two.txt",
  "other/a.md",
  "a.md",
];

test("files count whose name or folder a test names", () => {
  expect(findNamedFiles(tests, paths, () => true)).toEqual([
    "data/one.out",
    "samples/a.md",
    "samples/a.html",
    "data/one.txt",
    "data/two.txt",
  ]);

  expect(findNamedFiles(tests, paths, (path) => path.endsWith(".md"))).toEqual(["samples/a.md"]);
});

test("what a test imports is no data, nor is anything in a test that reads no file", () => {
  const text =
    "import { render } from '../samples/render.js';\nconst { x } = require('../data/x.js');\nread('other/c.md'); open('b.txt');";
  expect(findNamedFiles([{ path: "test/a.test.js", text }], paths, () => true)).toEqual([
    "other/a.md",
  ]);

  expect(
    findNamedFiles(
      [{ path: "test/a.test.js", text: "equal(f('samples/a.md'), 1);" }],
      paths,
      () => true,
    ),
  ).toEqual([]);
});

test("files beside a named one count if they are named alike", () => {
  const text = "const wanted = read('in/a.csv'.replace('csv', 'out')); open('in/a.csv');";
  expect(
    findNamedFiles(
      [{ path: "test/a.test.js", text }],
      ["in/b.csv", "x/a.csv", "x/a.out", "x/b.out"],
      () => true,
    ),
  ).toEqual(["in/b.csv", "x/a.csv", "x/a.out"]);
});

test("data that a test imports or embeds counts, and so does what a shell test names without quotes", () => {
  const names = (path: string, text: string, isAnyTest = false): readonly string[] =>
    findNamedFiles(
      [{ path, text }],
      ["fixtures/cases.json", "testdata/cases.csv", "tests/sample.ini"],
      () => true,
      isAnyTest,
    );
  expect(
    names(
      "test/a.test.js",
      "import cases from '../fixtures/cases.json';\nimport { a } from '../testdata/a.js';",
    ),
  ).toEqual(["fixtures/cases.json"]);

  expect(names("a_test.go", "//go:embed testdata/cases.csv\nvar cases string")).toEqual([
    "testdata/cases.csv",
  ]);

  expect(names("tests/run.sh", 'check "$(get sample.ini db)" 5')).toEqual(["tests/sample.ini"]);
  expect(names("test_a.py", "assert get('sample.ini') == 5")).toEqual([]);
  expect(names("test_a.py", "assert get('sample.ini') == 5", true)).toEqual(["tests/sample.ini"]);
});
