import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { buildNodePrograms } from "./node-programs.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "node-programs-"));
  const channel = { folder: join(root, "ours"), pipe: join(root, "pipe"), nonce: "n0", key: "k0" };
  for (const [name, text] of Object.entries(buildNodePrograms(channel))) put(`ours/${name}`, text);
  put("vitest/vitest.mjs", "console.log(JSON.stringify(process.argv.slice(2)));");
  put("jest/bin/jest.js", "console.log(JSON.stringify(process.argv.slice(2)));");
  put("project/package.json", "{}");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
/** Whether a runner is given our reporter, started in the project with these words. */
function isAsked(
  runner: "vitest/vitest.mjs" | "jest/bin/jest.js",
  ...words: readonly string[]
): boolean {
  const argv = ["--require", join(root, "ours/a.cjs"), join(root, runner), ...words];
  const env = { PATH: process.env["PATH"] ?? "" };
  return execFileSync(process.execPath, argv, {
    cwd: join(root, "project"),
    env,
    encoding: "utf8",
  }).includes("/ours/");
}

describe("a reporter on the command line replaces the project's own, so", () => {
  test("jest is asked where its settings are plain", () => {
    expect(isAsked("jest/bin/jest.js")).toBe(true);
    put(
      "project/package.json",
      '{ "babel": { "presets": ["x"] }, "jest": { "testEnvironment": "node" } }',
    );

    expect(isAsked("jest/bin/jest.js")).toBe(true);
  });

  test("jest is not where they lie elsewhere or are made of others", () => {
    expect(isAsked("jest/bin/jest.js", "-c", "other.json")).toBe(false);
    expect(isAsked("jest/bin/jest.js", "--rootDir=x")).toBe(false);
    put("project/jest.config.js", 'module.exports = { ...require("./base") };');
    expect(isAsked("jest/bin/jest.js")).toBe(false);
  });

  test("vitest is asked where its settings are plain, and adds ours to those its command names", () => {
    put(
      "project/vitest.config.ts",
      'import { defineConfig } from "vitest/config";\nexport default defineConfig({ test: {} });\n',
    );

    expect(isAsked("vitest/vitest.mjs", "run")).toBe(true);
    expect(isAsked("vitest/vitest.mjs", "run", "--config=x.ts", "--reporter=dot")).toBe(true);
  });

  test("vitest is not where they lie elsewhere or are made of others", () => {
    expect(isAsked("vitest/vitest.mjs", "run", "--root", "x")).toBe(false);
    put("vitest.config.ts", "export default { test: { reporters: ['./own.ts'] } };"); // found from below, too
    expect(isAsked("vitest/vitest.mjs", "run")).toBe(false);
    put("project/vite.config.mjs", 'import base from "../base.mjs";\nexport default base;\n');
    expect(isAsked("vitest/vitest.mjs", "run")).toBe(false);
  });
});

test("a process in which our program cannot work runs as it would without it", () => {
  put("first.cjs", 'delete globalThis.Math; Reflect.ownKeys = () => { throw new Error("no"); };');
  const argv = [
    "--require",
    join(root, "first.cjs"),
    "--require",
    join(root, "ours/a.cjs"),
    "-e",
    'console.log("fine")',
  ];
  expect(execFileSync(process.execPath, argv, { env: {}, encoding: "utf8" })).toBe("fine\n");
});
