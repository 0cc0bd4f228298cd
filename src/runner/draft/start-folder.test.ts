import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Objective } from "../../contracts/objective.ts";
import { findStartFolder, readFromFolder, listStartFolderWarnings } from "./start-folder.ts";

test("the folder one stands in is seen below the root, also through a link", () => {
  const root = mkdtempSync(join(tmpdir(), "inside-"));
  try {
    mkdirSync(join(root, "packages/api"), { recursive: true });
    symlinkSync(root, join(root, "link"));
    expect(findStartFolder({ cwd: root }, { root })).toBe("");
    expect(findStartFolder({ cwd: join(root, "link") }, { root })).toBe("");
    expect(findStartFolder({ cwd: join(root, "link/packages/api") }, { root })).toBe(
      "packages/api",
    );
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

describe("an objective typed in a folder of the repository", () => {
  const objective: Objective = {
    goal: "g",
    scope: ["src/**", "!src/gen/**"],
    done_criteria: [
      { id: "c1", text: "tests pass", check: "npm test" },
      { id: "c2", text: "it is nice", check: null },
    ],
    max_budget: { profile: "balanced", soft_ratio: 0.8, limits: {} },
    completion_mode: "promise",
    completion_promise: "DONE",
    risk_level: "medium",
    handoff_mode: "manual",
    approval_policy: "none",
    red_green: ["make red"],
    holdout: ["sh hidden.sh"],
  };

  test("has its commands run there, and its globs begin there", () => {
    expect(readFromFolder(objective, "packages/my api", { isScopeTyped: true })).toMatchObject({
      scope: ["packages/my api/src/**", "!packages/my api/src/gen/**"],
      done_criteria: [{ check: "cd 'packages/my api' && npm test" }, { check: null }],
      red_green: ["cd 'packages/my api' && make red"],
      holdout: ["cd 'packages/my api' && sh hidden.sh"],
    });
  });

  test("keeps a scope that nobody typed, and is the same in the root", () => {
    expect(
      readFromFolder({ ...objective, scope: ["**"] }, "a", { isScopeTyped: false }).scope,
    ).toEqual(["**"]);

    expect(readFromFolder(objective, "", { isScopeTyped: true })).toBe(objective);
    expect(
      readFromFolder({ ...objective, scope: ["x"] }, "app/[id]", { isScopeTyped: true }).scope,
    ).toEqual(["app/\\[id\\]/x"]);
  });
});

test("the user is told where commands run, and what the agent may change", () => {
  expect(listStartFolderWarnings("", { isScopeTyped: true })).toEqual([]);
  expect(listStartFolderWarnings("api", { isScopeTyped: true })).toEqual([
    "Commands of this objective run in api/, where you are, and its scope begins there.",
  ]);

  expect(listStartFolderWarnings("api", { isScopeTyped: false })).toEqual([
    "Commands of this objective run in api/, where you are, and the agent may change the whole repository (--scope limits it).",
  ]);
});
