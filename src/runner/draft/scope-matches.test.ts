import { expect, test } from "vitest";
import { scopeMatches } from "./scope-matches.ts";

test("a pattern that takes in no file is named, and the others are counted", () => {
  const names = ["src/a.ts", "src/b.ts", "docs/c.md", ".github/x.yml"];
  expect(scopeMatches(names, ["src/**", "scr/**"])).toEqual({ files: 2, unmatched: ["scr/**"] });
  expect(scopeMatches(names, ["src/**", "!src/b.ts"])).toEqual({ files: 1, unmatched: [] });
  expect(scopeMatches(names, ["docs/**", "!docs/**"])).toEqual({ files: 0, unmatched: ["docs/**"] });
  expect(scopeMatches(names, ["!src/**"])).toEqual({ files: 2, unmatched: [] });
});
