import { expect, test } from "vitest";
import { cacheEnvironment, detectRestores } from "./detect-restore.ts";

const tree = (...files: readonly string[]) => ({ files: new Set(files), read: () => null });

test.each([
  ["package-lock.json", "npm ci --no-audit --no-fund"],
  ["pnpm-lock.yaml", "pnpm install --frozen-lockfile"],
  ["bun.lock", "bun install --frozen-lockfile"],
  ["uv.lock", "uv sync --frozen"],
  ["poetry.lock", "poetry install --no-interaction"],
  ["Cargo.lock", "cargo fetch --locked"],
  ["go.sum", "go mod download"],
])("a project with %s restores by %s", (lock, command) =>
  expect(detectRestores(tree(lock, "src/a.ts"), "lockfile")).toMatchObject([
    { id: `restore:${lock}`, kind: "restore", command },
  ]),
);

test("one lock file a language, and every language that has one", () =>
  expect(
    detectRestores(tree("package-lock.json", "pnpm-lock.yaml", "Cargo.lock"), "lockfile").map(
      ({ source }) => source,
    ),
  ).toEqual(["pnpm-lock.yaml", "Cargo.lock"]));
test("copying runs nothing", () =>
  expect(detectRestores(tree("package-lock.json"), "copy")).toEqual([]));
test("the user's own commands are taken as they are", () =>
  expect(detectRestores(tree("package-lock.json"), ["make deps"])).toMatchObject([
    { id: "restore:config-1", command: "make deps" },
  ]));
test("no lock file, nothing to restore", () =>
  expect(detectRestores(tree("package.json"), "lockfile")).toEqual([]));
test("every tool's cache lies in the one folder", () =>
  expect(Object.values(cacheEnvironment("/c")).every((path) => path.startsWith("/c/"))).toBe(true));
