import { describe, expect, test } from "vitest";
import { computeCheckFlags, findCheckKind } from "./check-kind.ts";
import { result } from "./entries.test-support.ts";

describe("a project's checks", () => {
  test.each([
    ["npx tsc --noEmit", "compile"],
    ["npm run typecheck", "compile"],
    ["cargo check", "compile"],
    ["npm run lint:types", "lint"],
    ["cargo clippy", "lint"],
    ["ruff check .", "lint"],
    ["npm run test:unit", "tests"],
    ["pytest -q", "tests"],
    ["go test ./...", "tests"],
    ["npm run build", "build"],
    ["make", null],
  ])("%s is %s", (command, kind) =>
    expect(findCheckKind({ id: "project:config-1", title: command, command })).toBe(kind),
  );

  test("one red check makes its kind red, a kind without any is n/a", () =>
    expect(
      computeCheckFlags([
        result("project", "npm test", "passed"),
        result("project", "pytest", "failed"),
        result("criterion", "npm run lint", "failed"),
      ]),
    ).toEqual({
      compile: "n/a",
      tests: false,
      lint: "n/a",
      build: "n/a",
    }));
});
