// The built product, as it is installed: a stub that starts quickly, and commands that load only what they need.

import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const repository = join(import.meta.dirname, "..");
const stub = join(repository, "dist/autopilot.cjs");
const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as { readonly version: string };
const run = (argv: readonly string[]) => spawnSync(process.execPath, argv, { cwd: repository, encoding: "utf8" });

test("the stub is executable, says which interpreter it wants, and answers --version by itself", () => {
  expect(readFileSync(stub, "utf8").split("\n")[0]).toBe("#!/usr/bin/env node");
  expect(statSync(stub).mode & 0o111).toBe(0o111);
  for (const flag of ["--version", "-V"])
    expect(run([stub, flag])).toMatchObject({ status: 0, stdout: `autopilot ${version}\n`, stderr: "" });
});

test("the stub loads node:fs, the one quick command or the command line, nothing else", () => {
  const required = [...readFileSync(stub, "utf8").matchAll(/require\("([^"]+)"\)/g)].map((match) => match[1]);
  expect(required).toEqual(["node:fs", "./status.cjs", "./cli.cjs"]);
});

test("status loads neither the YAML parser nor the protocol of agents", () => {
  const watched = `process.argv = [process.execPath, ${JSON.stringify(stub)}, "status", "--json"];
    process.on("exit", () => require("node:fs").writeSync(2, JSON.stringify(Object.keys(require.cache))));
    require(${JSON.stringify(stub)});`;
  const { stderr } = run(["-e", watched]);
  const loaded = JSON.parse(stderr.slice(stderr.lastIndexOf('["'))) as readonly string[];
  expect(loaded.length).toBeGreaterThan(1);
  // A word that only the parser's source holds, and one of the protocol's.
  const heavy = loaded.filter(
    (path) => path.endsWith(".cjs") && /tag:yaml\.org|session\/request_permission/.test(readFileSync(path, "utf8")),
  );
  expect(heavy).toEqual([]);
});

test("building again with nothing changed does nothing and says nothing", () => {
  run([join(repository, "scripts/build.mjs")]);
  const before = statSync(stub).mtimeMs;
  expect(run([join(repository, "scripts/build.mjs")])).toMatchObject({ status: 0, stderr: "" });
  expect(statSync(stub).mtimeMs).toBe(before);
});
