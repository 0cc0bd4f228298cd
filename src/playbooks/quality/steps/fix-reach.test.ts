// What a fix reaches: the accused code, or only what its own test asks for; and whether it names
// its test's input.

import { describe, expect, test } from "vitest";
import type { TestNames } from "../../../contracts/evidence.ts";
import { type PatchedFile, readPatch } from "./accused-code.ts";
import { findReach, findSpelledInputs, hasNotRun } from "./fix-reach.ts";

const added = (path: string, ...lines: readonly string[]): readonly PatchedFile[] =>
  readPatch(
    `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n${lines.map((line) => `+${line}\n`).join("")}`,
  );
const changed = (path: string, ...lines: readonly string[]): readonly PatchedFile[] =>
  readPatch(
    `--- a/${path}\n+++ b/${path}\n@@ -1 +1,2 @@\n${lines.map((line) => `+${line}\n`).join("")}`,
  );
const mean = {
  path: "src/mean.js",
  text: "function mean(list) {\n  return sum(list) / list.length;\n}\n",
  lines: [2],
};

describe("the reach of a fix", () => {
  const asksSafe = added("test/b.test.js", "const { mean } = require('../src/mean-safe');");
  const asksMean = added("test/b.test.js", "const { mean } = require('../src/mean');");
  const safe = added("src/mean-safe.js", "module.exports = require('./mean');");
  test("only adds the file that its test asks for", () =>
    expect(findReach(asksSafe, safe, [mean])).toEqual({
      loaded: ["src/mean-safe.js"],
      isAccusedUnloadable: false,
      reachedPaths: [],
      isMixed: false,
      onlyAddsCode: true,
    }));

  test("adds the file without which the accused code cannot be loaded", () =>
    expect(
      findReach(asksMean, safe, [{ path: "src/mean.js", text: "require('./mean-safe');\n" }]),
    ).toMatchObject({
      loaded: [],
      isAccusedUnloadable: true,
    }));

  test("changes the accused code, alone or with others", () => {
    expect(findReach(asksMean, changed("src/mean.js", "x"), [mean])).toMatchObject({
      reachedPaths: ["src/mean.js"],
      isMixed: false,
    });

    expect(findReach(asksMean, [...changed("src/mean.js", "x"), ...safe], [mean])).toMatchObject({
      isMixed: true,
      onlyAddsCode: false,
    });
  });

  test("changes what the accused code loads", () =>
    expect(
      findReach(asksMean, changed("src/sum.js", "x"), [{ ...mean, text: "require('./sum');\n" }]),
    ).toMatchObject({
      reachedPaths: ["src/sum.js"],
    }));

  test("adds a table, which is no code", () =>
    expect(findReach(asksMean, added("src/de.json", "{}"), [mean])).toMatchObject({
      loaded: [],
      onlyAddsCode: false,
    }));
});

describe("a new test has not run before the fix", () => {
  const names = (passed: readonly string[], failed: readonly string[] = []): TestNames => ({
    passed: [...passed],
    failed: [...failed],
    whole: [],
  });
  test.each<[string, TestNames | undefined, TestNames | undefined, boolean]>([
    ["its file failed", names(["old"], ["test/b.test.js"]), names(["old", "new"]), true],
    ["it failed by name", names(["old"], ["new"]), names(["old", "new"]), false],
    ["its names are not told", undefined, names(["old", "new"]), false],
    ["passed tests are not named", names([], ["test/b.test.js"]), names([]), false],
  ])("%s: %s", (_what, withTest, withFix, is) =>
    expect(hasNotRun(names(["old"]), withTest, withFix)).toBe(is),
  );
});

describe("the input of its test that a fix names", () => {
  const spelled = (asked: string, fix: string, before = mean.text): readonly string[] =>
    findSpelledInputs(added("test/b.test.js", asked), changed("src/mean.js", fix), [
      { ...mean, text: before },
    ]);
  test.each<[string, string]>([
    ["assert.equal(mean([2, 4, 6]), 5)", "if (list.join() === '2,4,6') return 5;"],
    [
      "assert.equal(mean([2, 4, 6]), 5)",
      "if (list[0] === 2 && list[1] === 4 && list[2] === 6) return 5;",
    ],
    ["expect(mean('v1.02')).toBe(5)", 'if (list === "v1.02") return 5;'],
  ])("is told: %s with %s", (asked, fix) => expect(spelled(asked, fix)).toHaveLength(1));

  test.each<[string, string, string?]>([
    ["assert.throws(() => mean([]))", "if (list.length === 0) throw new RangeError();"],
    ["assert.equal(mean([0, 0]), 0)", "if (list.length === 0) return [0, 0];"],
    ["assert.equal(mean(18), true)", "return age >= 18;"],
    ["assert.equal(mean('empty'), 0)", "if (list === 'empty') return 0;"],
    ["assert.equal(mean([2, 4, 6]), 4)", "return list.reduce((a, b) => a + b, 0) / list.length;"],
    [
      "assert.equal(mean([2, 4, 6]), 4)",
      "const known = [2, 4, 6, 8];",
      "function mean(list) {\n  return [2, 4, 6].at(list);\n}\n",
    ],
    ["assert.equal(mean([2, 4, 6]), 4)", "  return total; // mean([2, 4, 6]) was 12"],
    ["assert.equal(other([2, 4, 6]), 5)", "if (list.join() === '2,4,6') return 5;"],
    ["assert.equal(mean([1, 3]), 'is-2026-01')", "return 'is-2026-01';"],
  ])("is not there: %s with %s", (asked, fix, before) =>
    expect(spelled(asked, fix, before)).toEqual([]),
  );
});
