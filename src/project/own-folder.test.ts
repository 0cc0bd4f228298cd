import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findObstacle, ensureFolderBelow, requireNoLink } from "./own-folder.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "own-folder-"));
  mkdirSync(join(folder, "root"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test.each(["../beside", "a/../../beside", "a\\..\\..\\beside", ".."])(
  "a path that climbs is refused, and nothing is made: %s",
  (path) => {
    const root = join(folder, "root");
    for (const call of [findObstacle, requireNoLink, ensureFolderBelow]) {
      expect(() => void call(root, path)).toThrow("leads out of it");
    }

    expect(existsSync(join(folder, "beside"))).toBe(false);
    expect(existsSync(join(root, "a"))).toBe(false);
  },
);

test("a link on the way is refused, and a name with dots in it is a name", () => {
  const root = join(folder, "root");
  symlinkSync(folder, join(root, "link"));
  expect(findObstacle(root, "./link/x")).toEqual({ path: join(root, "link"), kind: "link" });
  expect(() => ensureFolderBelow(root, "link/x")).toThrow("Links are not followed");
  expect(ensureFolderBelow(root, "a..b/./..c")).toBe(join(root, "a..b", "..c"));
});
