import { expect, test } from "vitest";
import { countMatches } from "./count-matches.ts";

test("a pattern that takes in no file is named, and the others are counted", () => {
  const names = ["src/a.ts", "src/b.ts", "docs/c.md", ".github/x.yml"];
  expect(countMatches(names, ["src/**", "scr/**"])).toEqual({ files: 2, unmatched: ["scr/**"] });
  expect(countMatches(names, ["src/**", "!src/b.ts"])).toEqual({ files: 1, unmatched: [] });
  expect(countMatches(names, ["docs/**", "!docs/**"])).toEqual({
    files: 0,
    unmatched: ["docs/**"],
  });

  expect(countMatches(names, ["!src/**"])).toEqual({ files: 2, unmatched: [] });
});
