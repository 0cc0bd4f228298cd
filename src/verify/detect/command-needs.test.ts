import { expect, test } from "vitest";
import { findNeeds } from "./command-needs.ts";

const tree = (contents: Record<string, string> = {}) => ({
  files: new Set(Object.keys(contents)),
  read: (path: string) => contents[path] ?? null,
});
const named = (command: string, contents?: Record<string, string>) =>
  findNeeds(command, tree(contents)).map(({ kind, name, install }) => [kind, name, install]);

test("a check needs its program, and how to get it is said with it", () => {
  expect(named("uv run pytest")).toEqual([
    ["program", "uv", "curl -LsSf https://astral.sh/uv/install.sh | sh"],
  ]);

  expect(named("frobnicate --all")).toEqual([["program", "frobnicate", "install frobnicate"]]);
  expect(named("A=1 B=2 cargo test")).toEqual([
    ["program", "cargo", "curl -sSf https://sh.rustup.rs | sh"],
  ]);
});

test.each([
  "test -f b.txt",
  "[ -f x ]",
  "./gradlew test",
  "sh-like: (cd x)",
  "! grep x y",
  "cd sub && npm test",
  "$TOOL x",
  "",
])("%j needs nothing that can be told by reading it", (command) => {
  expect(named(command)).toEqual([]);
});

test("scripts of a package need its installed packages, if it has any", () => {
  const package_ = (more: object) => ({
    "package.json": JSON.stringify({ scripts: { test: "x" }, ...more }),
  });
  expect(named("npm test", package_({ devDependencies: { vitest: "1" } }))).toContainEqual([
    "folder",
    "node_modules",
    "npm install",
  ]);

  expect(
    named("npm test", { ...package_({ dependencies: { a: "1" } }), "package-lock.json": "" }),
  ).toContainEqual(["folder", "node_modules", "npm ci"]);

  expect(named("pnpm run test", package_({ dependencies: { a: "1" } }))).toContainEqual([
    "folder",
    "node_modules",
    "pnpm install",
  ]);

  expect(named("npm test", package_({}))).toEqual([
    ["program", "npm", "install Node.js: https://nodejs.org"],
  ]);

  expect(
    named("yarn test", { ...package_({ dependencies: { a: "1" } }), ".pnp.cjs": "" }),
  ).toHaveLength(1);

  expect(named("npm test", { "package.json": "{ broken" })).toHaveLength(1);
});

test("a Python module that the project does not bring itself has to be installed", () => {
  expect(named("python3 -m pytest -q")).toEqual([
    ["program", "python3", "install Python: https://www.python.org/downloads"],
    ["module", "pytest", "python3 -m pip install pytest"],
  ]);

  expect(named("python3 -m mine", { "mine.py": "" })).toHaveLength(1);
});
