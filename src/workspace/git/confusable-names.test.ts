import { expect, test } from "vitest";
import { findCollisions, isGitName } from "./confusable-names.ts";

test.each([
  ".git",
  ".GIT",
  ".Git",
  "git~1",
  "GIT~1",
  "git~2",
  ".git ",
  ".git.",
  ".git . .",
  ".git::$INDEX_ALLOCATION",
  ".g\u200cit",
  "\ufeff.git",
  ".git\\config",
  "a\\.git",
])("%j is git's own folder on some file system", (name) => expect(isGitName(name)).toBe(true));

test.each([
  ".gitignore",
  ".gitattributes",
  ".github",
  "git",
  "agit~1",
  ".git-blame-ignore-revs",
  ".gitt",
  "x.git",
])("%j is a name like any other", (name) => expect(isGitName(name)).toBe(false));

test("a new path that differs from another only by case collides", () => {
  expect(findCollisions(["readme.md"], ["README.md"])).toEqual([
    { path: "readme.md", otherPath: "README.md" },
  ]);
});

test("a new folder spelled otherwise collides", () => {
  expect(findCollisions(["Src/b.ts"], ["src/a.ts"])).toEqual([
    { path: "Src/b.ts", otherPath: "src" },
  ]);
});

test("a new path that differs only by Unicode normalisation collides", () => {
  expect(findCollisions(["caf\u0065\u0301"], ["caf\u00e9"])).toHaveLength(1);
});

test("two new paths collide with each other, once", () => {
  expect(findCollisions(["b", "B"], [])).toHaveLength(1);
});

test("a tree that already holds both spellings may grow under either", () => {
  expect(findCollisions(["a/3", "A/4"], ["a/1", "A/2"])).toEqual([]);
  expect(findCollisions(["a/3", "A/3"], ["a/1", "A/2"])).toHaveLength(1);
});
