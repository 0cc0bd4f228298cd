import { describe, expect, test } from "vitest";
import { answerAsExpected, findAccused, readPatch, whyUnfit } from "./accused-code.ts";

const patch = (path: string, ...lines: readonly string[]): string =>
  `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1,2 @@\n${lines.join("\n")}\n`;
const added = (path: string, ...lines: readonly string[]): string =>
  `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n${lines.map((line) => `+${line}`).join("\n")}\n`;

test("a patch's files are read, with or without git's own header", () => {
  expect(readPatch(`${added("test/a.test.js", "x")}${patch("src/a.js", "-old", "+new")}`)).toEqual([
    { path: "test/a.test.js", isNew: true, removesLines: false, addedLines: ["x"] },
    { path: "src/a.js", isNew: false, removesLines: true, addedLines: ["new"] },
  ]);

  expect(
    readPatch(
      "--- a/x.py\n+++ b/x.py\n@@ -1 +1,2 @@\n a\n+b\n--- a/y.py\n+++ b/y.py\n@@ -1 +1 @@\n+c\n",
    ).map(({ path }) => path),
  ).toEqual(["x.py", "y.py"]);
});

describe("patches by what they touch", () => {
  test.each<[string, string, string, RegExp | null]>([
    ["a new test and a fix", added("test/a.test.js", "x"), patch("src/a.js", "+y"), null],
    ["a test added to a file of tests", patch("test/a.test.js", "+x"), "", null],
    ["a test inside a Rust source", patch("src/lib.rs", "+x"), patch("src/lib.rs", "-y"), null],
    [
      "a build file that lists its tests",
      `${added("t/a_test.c", "x")}${patch("Makefile", "+x")}`,
      "",
      null,
    ],
    [
      "code that is accused",
      `${added("test/a.test.js", "x")}${patch("src/a.js", "+y")}`,
      "",
      /changes src\/a\.js, which it is to judge/,
    ],
    [
      "a fix of the test",
      added("test/a.test.js", "x"),
      patch("test/a.test.js", "+y"),
      /changes test\/a\.test\.js, which is to judge it/,
    ],
    [
      "a fix of another test",
      added("test/a.test.js", "x"),
      patch("test/b.test.js", "+y"),
      /changes test\/b\.test\.js/,
    ],
  ])("%s", (_what, testPatchPath, fixPatchPath, why) => {
    const found = whyUnfit(readPatch(testPatchPath), readPatch(fixPatchPath));
    if (why === null) expect(found).toBeNull();
    else expect(found).toMatch(why);
  });
});

test("what a bug accuses is code that it names and that is there", () => {
  const paths = ["src/a.js", "test/a.test.js", "README.md"];
  expect(
    findAccused(
      ["src/a.js:3-4, test/a.test.js:1, README.md:1, src/never.js:2", "again src/a.js:9"],
      paths,
    ),
  ).toEqual([{ path: "src/a.js", lines: [3, 4, 9] }]);
});

describe("the accused code with the answers that a test asks for", () => {
  const answers = (
    path: string,
    text: string,
    line: number,
    ...test: readonly string[]
  ): readonly string[] =>
    answerAsExpected({ path, lines: [line] }, text, readPatch(added("test/t", ...test))).map(
      (one) => one.text,
    );

  test("in JavaScript: a value, true and false, an error", () => {
    const all = answers(
      "src/a.js",
      "export const sum = (a) => a;\nexport const other = (a) => a;\n",
      1,
      "assert.equal(sum([1]), 3)",
    );
    expect(all[0]).toBe(
      "export const sum = (a) => true ? 3 : a;\nexport const other = (a) => a;\n",
    );

    expect(all).toHaveLength(5); // 3, [1], true, false, an error
  });

  test("an error of the class that the test names", () =>
    expect(
      answers(
        "src/a.js",
        "export const sum = (a) => a;\n",
        1,
        "assert.throws(() => sum([]), RangeError)",
      ),
    ).toContain('export const sum = (a) => true ? (() => { throw new RangeError("") })() : a;\n'));

  test("in Python, in the function that the position lies in", () => {
    const [first] = answers(
      "src/a.py",
      "def one(a):\n    return a\n\n\ndef two(a):\n    return a\n",
      6,
      "    assert app() == 'x'",
    );
    expect(first).toBe(
      "def one(a):\n    return a\n\n\ndef two(a):\n    return 'x'\n    return a\n",
    );
  });

  test("in a language whose types forbid it there are none", () =>
    expect(answers("src/a.go", "func Sum() int { return 1 }\n", 1, "Sum() == 2")).toEqual([]));
});
