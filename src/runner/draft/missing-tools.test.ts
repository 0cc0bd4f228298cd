import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findMissingTools } from "./missing-tools.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tools-"));
  mkdirSync(join(root, "bin"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const program = (name: string, body = "exit 0"): void => {
  writeFileSync(join(root, "bin", name), `#!/bin/sh\n${body}\n`);
  chmodSync(join(root, "bin", name), 0o755);
};
const files: Record<string, string> = {
  "package.json": JSON.stringify({ devDependencies: { vitest: "1" } }),
  "package-lock.json": "{}",
};
const tree = { files: new Set(Object.keys(files)), read: (path: string) => files[path] ?? null };
const missing = (commands: readonly string[], isRestored = false) =>
  findMissingTools(commands, { root, tree, env: { PATH: join(root, "bin") }, isRestored });

test("a program that isn't on the PATH is named once, with who needs it and how to get it", async () => {
  expect(await missing(["uv run ruff check .", "uv run pytest"])).toEqual([
    {
      name: "uv",
      needed_by: ["uv run ruff check .", "uv run pytest"],
      install: "curl -LsSf https://astral.sh/uv/install.sh | sh",
    },
  ]);

  program("uv");
  expect(await missing(["uv run pytest"])).toEqual([]);
});

test("packages that aren't installed are named, unless they are restored for each check or installed", async () => {
  program("npm");
  expect(await missing(["npm run test"])).toEqual([
    { name: "node_modules", needed_by: ["npm run test"], install: "npm ci" },
  ]);

  expect(await missing(["npm run test"], true)).toEqual([]);
  mkdirSync(join(root, "node_modules"));
  expect(await missing(["npm run test"])).toEqual([]);
});

test("a Python module that the interpreter doesn't have is named; an interpreter that can't say is left alone", async () => {
  program("python3", "exit 1");
  expect(await missing(["python3 -m pytest"])).toEqual([
    { name: "pytest", needed_by: ["python3 -m pytest"], install: "python3 -m pip install pytest" },
  ]);

  program("python3", "exit 127");
  expect(await missing(["python3 -m pytest"])).toEqual([]);
});
