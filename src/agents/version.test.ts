import { expect, test } from "vitest";
import { isOlder, findVersion } from "./version.ts";

test("a version is found in whatever a program prints around it", () => {
  expect(findVersion("2.1.325 (Claude Code)\n")).toBe("2.1.325");
  expect(findVersion("codex-cli 0.166.0-alpha.2")).toBe("0.166.0-alpha.2");
  expect(findVersion("GitHub Copilot CLI v1.0.102.\nUpdate available")).toBe("1.0.102");
  expect(findVersion("no version at all, 1.2")).toBeNull();
});

test("versions are compared by their numbers, and what comes behind them does not make one older", () => {
  expect([
    isOlder("1.9.0", "1.10.0"),
    isOlder("0.166.0", "1.0.0"),
    isOlder("2.0.0", "1.99.99"),
  ]).toEqual([true, true, false]);

  expect([isOlder("1.10.0", "1.10.0"), isOlder("1.10.0-rc.1", "1.10.0")]).toEqual([false, false]);
});
