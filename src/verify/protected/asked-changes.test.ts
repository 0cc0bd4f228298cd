import { describe, expect, test } from "vitest";
import { isChangeAskedFor } from "./asked-changes.ts";

describe("a change of what judges is asked for", () => {
  test.each([
    ["test/golden/a.html", "Write dates out. Update the golden files in test/golden to that."],
    ["test/price.test.js", "Remove price together with its tests (test/price.test.js)."],
    ["__tests__/a.test.js", "Split src/utils.js, remove __tests__/, and let jest find the tests"],
    [
      "test/report.test.ts",
      "Align it. The snapshots in test/report.test.ts have to be updated; the layout is in docs.",
    ],
    ["test/__snapshots__/a.test.ts.snap", "Update the snapshots of test/a.test.ts"],
    ["tests/cli.rs", "rename --fmt to --format, and adapt `cli.rs`"],
  ])("%s: %s", (path, goal) => expect(isChangeAskedFor(path, goal)).toBe(true));
});

describe("it is not", () => {
  test.each([
    ["test/a.test.js", "Change parse() so that test/a.test.js passes."],
    ["test/a.test.js", "Fix what test/a.test.js shows. Change nothing else."],
    ["test/a.test.js", "Update the parser, but don't touch test/a.test.js"],
    ["test/a.test.js", "Update the tests."],
    ["test/a.test.js", "Update src/a.js; test/a.test.js has examples"],
    ["test/a.test.js", "Move src/test to lib"],
    ["tests/golden/a.txt", "Update test/golden"],
    ["package.json", "Split the package into two"],
  ])("%s: %s", (path, goal) => expect(isChangeAskedFor(path, goal)).toBe(false));
});
