import { expect, test } from "vitest";
import { compileMasks, compileOwnedPaths, compileScope } from "./scope-globs.ts";

test("everything is in scope of **, dot files included", () => {
  const inScope = compileScope(["**"]);
  expect(["a", "src/a.ts", ".env", ".github/workflows/ci.yml"].every(inScope)).toBe(true);
});

test("a path is matched from the top, as it is spelled", () => {
  const inScope = compileScope(["src/**", "README.md"]);
  expect(
    ["src/a.ts", "src/b/c.ts", "src/.hidden", "README.md"].filter((path) => !inScope(path)),
  ).toEqual([]);

  expect(
    [
      "lib/src/a.ts",
      "docs/README.md",
      "Src/a.ts",
      "readme.md",
      "src-evil/a.ts",
      "src.ts",
      "src",
    ].filter(inScope),
  ).toEqual([]);
});

test("an exclusion wins whatever its place, and exclusions alone start from everything", () => {
  expect(compileScope(["!src/secret/**", "src/**"])("src/secret/key")).toBe(false);
  expect(compileScope(["src/**", "!src/secret/**"])("src/a")).toBe(true);
  expect(compileScope(["!docs/**"])("src/a")).toBe(true);
  expect(compileScope(["!docs/**"])("docs/a")).toBe(false);
});

test("folders and odd names mean what they say", () => {
  expect(compileScope(["src/"])("src/deep/a.ts")).toBe(true);
  expect(compileScope(["./src/a.ts"])("src/a.ts")).toBe(true);
  expect(compileScope(["app/[id].ts"])("app/[id].ts")).toBe(true);
  expect(compileScope(["{docs,src}/**/*.md"])("docs/x/y.md")).toBe(true);
  expect(compileScope(["**/*.ts"])("a\nb/c.ts")).toBe(true);
  expect(compileScope(["**", "!secret/**"])("secret/a\nb")).toBe(false);
  expect(compileOwnedPaths([".autopilot/**"])(".autopilot/a\nb")).toBe(true);
});

test("runner-owned paths match in any letter case, masks do not", () => {
  expect(compileOwnedPaths([".autopilot/**"])(".Autopilot/config.yaml")).toBe(true);
  expect(compileOwnedPaths([])("a")).toBe(false);
  expect(compileMasks(["holdout/**"])("Holdout/a")).toBe(false);
});
