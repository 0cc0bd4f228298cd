import { expect, test } from "vitest";
import { masksOf, ownedOf, scopeOf } from "./scope.ts";

test("everything is in scope of **, dot files included", () => {
  const inScope = scopeOf(["**"]);
  expect(["a", "src/a.ts", ".env", ".github/workflows/ci.yml"].every(inScope)).toBe(true);
});

test("a path is matched from the top, as it is spelled", () => {
  const inScope = scopeOf(["src/**", "README.md"]);
  expect(["src/a.ts", "src/b/c.ts", "src/.hidden", "README.md"].filter((path) => !inScope(path))).toEqual([]);
  expect(["lib/src/a.ts", "docs/README.md", "Src/a.ts", "readme.md", "src-evil/a.ts", "src.ts", "src"].filter(inScope)).toEqual([]);
});

test("an exclusion wins whatever its place, and exclusions alone start from everything", () => {
  expect(scopeOf(["!src/secret/**", "src/**"])("src/secret/key")).toBe(false);
  expect(scopeOf(["src/**", "!src/secret/**"])("src/a")).toBe(true);
  expect(scopeOf(["!docs/**"])("src/a")).toBe(true);
  expect(scopeOf(["!docs/**"])("docs/a")).toBe(false);
});

test("folders and odd names mean what they say", () => {
  expect(scopeOf(["src/"])("src/deep/a.ts")).toBe(true);
  expect(scopeOf(["./src/a.ts"])("src/a.ts")).toBe(true);
  expect(scopeOf(["app/[id].ts"])("app/[id].ts")).toBe(true);
  expect(scopeOf(["{docs,src}/**/*.md"])("docs/x/y.md")).toBe(true);
  expect(scopeOf(["**/*.ts"])("a\nb/c.ts")).toBe(true);
  expect(scopeOf(["**", "!secret/**"])("secret/a\nb")).toBe(false);
  expect(ownedOf([".autopilot/**"])(".autopilot/a\nb")).toBe(true);
});

test("runner-owned paths match in any letter case, masks do not", () => {
  expect(ownedOf([".autopilot/**"])(".Autopilot/config.yaml")).toBe(true);
  expect(ownedOf([])("a")).toBe(false);
  expect(masksOf(["holdout/**"])("Holdout/a")).toBe(false);
});
