import { expect, test } from "vitest";
import { globMasks, ownedPathTest, globScope } from "./scope-globs.ts";

test("everything is in scope of **, dot files included", () => {
  const inScope = globScope(["**"]);
  expect(["a", "src/a.ts", ".env", ".github/workflows/ci.yml"].every(inScope)).toBe(true);
});

test("a path is matched from the top, as it is spelled", () => {
  const inScope = globScope(["src/**", "README.md"]);
  expect(["src/a.ts", "src/b/c.ts", "src/.hidden", "README.md"].filter((path) => !inScope(path))).toEqual([]);
  expect(["lib/src/a.ts", "docs/README.md", "Src/a.ts", "readme.md", "src-evil/a.ts", "src.ts", "src"].filter(inScope)).toEqual([]);
});

test("an exclusion wins whatever its place, and exclusions alone start from everything", () => {
  expect(globScope(["!src/secret/**", "src/**"])("src/secret/key")).toBe(false);
  expect(globScope(["src/**", "!src/secret/**"])("src/a")).toBe(true);
  expect(globScope(["!docs/**"])("src/a")).toBe(true);
  expect(globScope(["!docs/**"])("docs/a")).toBe(false);
});

test("folders and odd names mean what they say", () => {
  expect(globScope(["src/"])("src/deep/a.ts")).toBe(true);
  expect(globScope(["./src/a.ts"])("src/a.ts")).toBe(true);
  expect(globScope(["app/[id].ts"])("app/[id].ts")).toBe(true);
  expect(globScope(["{docs,src}/**/*.md"])("docs/x/y.md")).toBe(true);
  expect(globScope(["**/*.ts"])("a\nb/c.ts")).toBe(true);
  expect(globScope(["**", "!secret/**"])("secret/a\nb")).toBe(false);
  expect(ownedPathTest([".autopilot/**"])(".autopilot/a\nb")).toBe(true);
});

test("runner-owned paths match in any letter case, masks do not", () => {
  expect(ownedPathTest([".autopilot/**"])(".Autopilot/config.yaml")).toBe(true);
  expect(ownedPathTest([])("a")).toBe(false);
  expect(globMasks(["holdout/**"])("Holdout/a")).toBe(false);
});
