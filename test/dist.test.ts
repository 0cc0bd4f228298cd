// The built product, as it is installed: a stub that starts quickly, and commands that load only
// what they need.

import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { scripted } from "./support/autopilot.ts";
import { scratch } from "./support/scratch-repository.ts";

const repository = join(import.meta.dirname, "..");
const stub = join(repository, "dist/autopilot.cjs");
const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as {
  readonly version: string;
};
const run = (argv: readonly string[]) =>
  spawnSync(process.execPath, argv, { cwd: repository, encoding: "utf8" });

test("the stub is executable, says which interpreter it wants, and answers --version by itself", () => {
  expect(readFileSync(stub, "utf8").split("\n")[0]).toBe("#!/usr/bin/env node");
  expect(statSync(stub).mode & 0o111).toBe(0o111);

  for (const flag of ["--version", "-V"]) {
    expect(run([stub, flag])).toMatchObject({
      status: 0,
      stdout: `autopilot ${version}\n`,
      stderr: "",
    });
  }
});

test("the stub loads what is built in, the one quick command, or the command line with its cache of code, nothing else", () => {
  const required = [...readFileSync(stub, "utf8").matchAll(/require\("([^"]+)"\)/g)].map(
    (match) => match[1],
  );
  expect(required).toEqual(["node:fs", "./status.cjs", "node:v8", "./code-cache.cjs", "./cli.cjs"]);
});

/** The files a command has loaded by the time it answers. */
function loadedBy(args: readonly string[]): readonly string[] {
  const watched = `process.argv = [process.execPath, ${JSON.stringify(stub)}, ...${JSON.stringify(args)}];
    process.on("exit", () => require("node:fs").writeSync(2, JSON.stringify(Object.keys(require.cache))));
    require(${JSON.stringify(stub)});`;

  const { stderr } = run(["-e", watched]);
  return JSON.parse(stderr.slice(stderr.lastIndexOf('["'))) as readonly string[];
}

// A word that only the parser's source holds, one of the protocol's, one of the flows that are
// built in, one of the schemas.
const parser = /tag:yaml\.org/;
const protocol = /session\/request_permission/;
const catalog = /flow: objective/;
const schemas = /strict_object/;
const holding = (files: readonly string[], ...words: readonly RegExp[]): readonly string[] =>
  files.filter((path) => words.some((word) => word.test(readFileSync(path, "utf8"))));

test("status is one file, and loads neither the YAML parser nor the protocol of agents nor any schema", () => {
  const folder = scratch();
  const drafted = run([
    stub,
    "-C",
    folder,
    "start",
    "make b",
    "--isolation",
    "clone",
    ...scripted(folder, []),
    "--json",
  ]);
  expect(drafted.status).toBe(0);
  const loaded = loadedBy(["status", "-C", folder, "--json"]);
  expect(loaded.map((path) => relative(join(repository, "dist"), path))).toEqual([
    "autopilot.cjs",
    "status.cjs",
  ]);

  expect(holding(loaded, parser, protocol, catalog, schemas)).toEqual([]);
});

test("where there is no run, the whole command line says what lies here", () => {
  const loaded = loadedBy(["status", "-C", scratch(), "--json"]);
  expect(loaded.some((path) => path.endsWith("cli.cjs"))).toBe(true);
  expect(holding(loaded, protocol)).toEqual([]);
});

test("resume loads neither flows nor the protocol of agents before a run is in hand", () => {
  const folder = scratch();
  const drafted = run([
    stub,
    "-C",
    folder,
    "start",
    "make b",
    "--isolation",
    "clone",
    ...scripted(folder, []),
    "--json",
  ]);

  // A run that is named and may not be resumed is refused just before it would be in hand; without
  // a name, what is here is inspected.
  const { run_id } = JSON.parse(drafted.stdout) as { readonly run_id: string };
  const loaded = loadedBy(["resume", "-C", folder, "--run", run_id, "--json"]);
  expect(holding(loaded, schemas)).not.toEqual([]);
  expect(holding(loaded, protocol, catalog)).toEqual([]);
});

test("nothing of PostgreSQL is loaded where no store is named", () => {
  const folder = scratch();
  for (const args of [
    ["start", "make b", "--isolation", "clone", ...scripted(folder, [])],
    ["resume"],
    ["fleet", "status"],
  ]) {
    expect(holding(loadedBy([...args, "-C", folder, "--json"]), /SCRAM-SHA-256/), args[0]).toEqual(
      [],
    );
  }
});

test("what is not plainly status is answered by the whole command line", () => {
  const asked = [
    ["status", "--help"],
    ["status", "--nonsense"],
    ["status", "-C", "no-such-folder"],
  ];
  const answers = asked.map((args) => run([stub, ...args]));
  expect(answers.map(({ status }) => status)).toEqual([0, 2, 2]);
  expect(answers[0]?.stdout).toContain("Usage: autopilot status");
  expect(answers[1]?.stderr).toContain("Unknown flag --nonsense.");
  expect(answers[2]?.stderr).toContain("is not a folder.");
});

test("what is packed is one build without a stray file, has the pages it speaks of, and runs by itself", () => {
  const room = mkdtempSync(join(tmpdir(), "packed-"));
  try {
    expect(run([join(repository, "scripts/pack.mjs"), room])).toMatchObject({ status: 0 });
    expect(readdirSync(room)).toEqual([`agent-autopilot-${version}.tgz`]);
    spawnSync("tar", ["xzf", join(room, `agent-autopilot-${version}.tgz`), "-C", room]);
    const home = join(room, "package");
    const dist = readdirSync(join(home, "dist"));

    const named = dist
      .flatMap((name) => [
        ...readFileSync(join(home, "dist", name), "utf8").matchAll(/["'`]\.\/([\w.-]+\.cjs)["'`]/g),
      ])
      .map(([, name]) => name);

    const started = [
      "autopilot.cjs",
      "cli.cjs",
      "status.cjs",
      "scripted.cjs",
      "returns.cjs",
      "egress.cjs",
      "chain-worker.cjs",
      "dashboard-client.cjs",
    ];
    expect(dist.filter((name) => !named.includes(name) && !started.includes(name))).toEqual([]);
    expect(named.filter((name) => name !== undefined && !dist.includes(name))).toEqual([]);
    expect(readdirSync(home).toSorted()).toEqual([
      ".agents",
      ".claude-plugin",
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "dist",
      "docs",
      "package.json",
      "plugin",
      "schemas",
    ]);

    const pages =
      [readFileSync(join(home, "README.md"), "utf8"), run([stub, "help", "flow"]).stdout]
        .join()
        .match(/(?<!_)docs\/[\w./-]+\.md/g) ?? [];
    expect(
      pages.filter((page) => statSync(join(home, page), { throwIfNoEntry: false }) === undefined),
    ).toEqual([]);

    mkdirSync(join(home, "node_modules"));
    for (const name of readdirSync(join(repository, "node_modules"))) {
      if (/^(fs-native-extensions|require-addon|which-runtime|bare-)/.test(basename(name))) {
        symlinkSync(join(repository, "node_modules", name), join(home, "node_modules", name));
      }
    }

    expect(run([join(home, "dist/autopilot.cjs"), "flow", "lint", "objective"])).toMatchObject({
      status: 0,
    });
  } finally {
    rmSync(room, { recursive: true, force: true });
  }
});

test("building again with nothing changed does nothing and says nothing", () => {
  const build = join(repository, "scripts/build.mjs");
  const builtAgain = (): object => {
    run([build]);
    const before = statSync(stub).mtimeMs;
    const { status, stderr } = run([build]);

    return { status, stderr, isTouched: statSync(stub).mtimeMs !== before };
  };

  const nothing = { status: 0, stderr: "", isTouched: false };
  // Somebody may edit a source or build beside this test; a build that is never at rest stays a
  // failure.
  let seen = builtAgain();
  for (let tries = 1; tries < 5 && !isDeepStrictEqual(seen, nothing); tries++) seen = builtAgain();
  expect(seen).toEqual(nothing);
});
