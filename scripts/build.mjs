// Makes dist/: a tiny start stub, the command line with one lazy chunk a command, `status` by itself, the embedded agent, and a journal's second thread.
//
// Invariants:
//   B1. Nothing is rebuilt when nothing changed: dist/.stamp holds the hash of all that goes in.
//   B2. A file of dist/ is replaced whole (written beside, then renamed), and chunks of an older build stay for an hour:
//       a process that runs from dist/ while it is rebuilt still finds its lazy chunks.
//       `--into DIR` builds afresh into another folder, which then holds this build and nothing else.
//   B3. The stub imports nothing but node:fs, so that `--version` costs no more than Node itself.
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const into = process.argv.indexOf("--into");
const dist = into < 0 ? join(root, "dist") : resolve(process.argv[into + 1] ?? "dist");
const isClean = process.argv.includes("--clean");
const isForced = isClean || process.argv.includes("--force");

/** What is built, by its name in dist/. */
const entries = {
  cli: "src/surfaces/cli/entry.ts",
  status: "src/surfaces/cli/status-entry.ts",
  "code-cache": "src/surfaces/cli/code-cache.ts",
  scripted: "src/agents/scripted/main.ts",
  returns: "src/agents/answer-tools/main.ts",
  egress: "src/workspace/isolation/egress-program/main.ts",
  "chain-worker": "src/journal/chain-worker.ts",
  "dashboard-client": "src/surfaces/dashboard/client/main.ts",
};
/** Entries that a browser runs: one script that needs nothing, without a map that the browser would ask for. */
const forBrowsers = ["dashboard-client"];
/** Entries that must be one file: `status` so that nothing but its own needs is loaded, the embedded agent because it is shown to a confined process by its path alone, the second thread so that it starts at once. */
const undivided = ["status", "code-cache", "scripted", "returns", "egress", "chain-worker"];
/** Native code cannot be bundled; npm installs it beside us. `pg-native` is never asked for: the database is spoken to in JavaScript. */
const external = ["fs-native-extensions", "pg-native"];
const staleAfterMs = 3_600_000;

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const stamp = stampOf();
const stub = `#!/usr/bin/env node
"use strict";
const { argv } = process;
if (argv.length === 3 && (argv[2] === "--version" || argv[2] === "-V")) require("node:fs").writeSync(1, "autopilot ${version}\\n");
else if (argv[2] !== "status" || !require("./status.cjs").isTaken) {
  // Short-lived objects get 1 MB, not up to 16: before any code is loaded, since cached code is valid for the same flags only (decision 0175).
  require("node:v8").setFlagsFromString("--semi-space-growth-factor=1");
  require("./code-cache.cjs").enableCodeCache("${stamp.slice(0, 16)}");
  require("./cli.cjs").start();
}
`;

const present = Object.entries(entries).filter(([, path]) => existsSync(join(root, path)));
const outputs = present.map(([name]) => `${name}.cjs`);
if (!isForced && isBuilt()) process.exit(0); // B1

const began = performance.now();
if (isClean) rmSync(dist, { recursive: true, force: true });
for (const [name, path] of Object.entries(entries))
  if (!existsSync(join(root, path)))
    process.stderr.write(`build: ${path} is not there, ${name}.cjs is not built\n`);

const made = new Map([["autopilot.cjs", stub]]);
const failures = [];
// Each entry by itself: one that cannot be built must not take the others with it.
for (const [name, path] of present) {
  try {
    for (const [file, content] of await bundle(name, path)) made.set(file, content);
  } catch (error) {
    failures.push(`build: ${name}.cjs: ${plain(error)}\n`);
  }
}

// Chunks come first and the entries that name them last, so that no entry names a chunk that is not there yet.
const isEntry = (name) => name === "autopilot.cjs" || outputs.includes(name);
for (const [name, content] of [...made].sort(([a], [b]) => Number(isEntry(a)) - Number(isEntry(b))))
  replace(name, content);
chmodSync(join(dist, "autopilot.cjs"), 0o755);
if (failures.length === 0) replace(".stamp", stamp);
prune();
process.stderr.write(failures.join(""));
if (failures.length > 0) process.exit(1);
process.stderr.write(
  `build: dist/ made in ${Math.round(performance.now() - began)} ms (${made.size} files)\n`,
);

async function bundle(name, path) {
  const { rolldown } = await import("rolldown"); // only when something is to be built: it costs 150 ms
  const isForBrowser = forBrowsers.includes(name);
  const build = await rolldown({
    cwd: root,
    input: { [name]: path },
    platform: isForBrowser ? "browser" : "node",
    tsconfig: false, // its paths are about types
    external,
    treeshake: { manualPureFunctions: ["v"] }, // valibot: a schema that nobody uses does nothing
    logLevel: "warn",
    onLog: (level, log, report) => (log.code === "EVAL" ? undefined : report(level, log)),
  });
  const { output } = await build.generate({
    format: isForBrowser ? "iife" : "cjs",
    ...(undivided.includes(name) || isForBrowser ? { codeSplitting: false } : {}),
    entryFileNames: "[name].cjs",
    chunkFileNames: "[name]-[hash].cjs",
    minify: true,
    sourcemap: !isForBrowser,
    ...(isForBrowser ? {} : { exports: "named" }),
    dynamicImportInCjs: false, // require() spares the loader of ES modules
  });
  await build.close();
  return output.map((file) => [file.fileName, file.type === "chunk" ? file.code : file.source]);
}

/** A bundler's errors without colours and pictures: what is wrong, and where. */
function plain(error) {
  const lines = String(error instanceof Error ? error.message : error)
    .replaceAll(/\x1b\[[\d;]*m/g, "")
    .split("\n");
  return lines.filter((line) => /^\[|errors?:/.test(line.trim())).join("\n  ") || lines[0];
}

function isBuilt() {
  const mark = join(dist, ".stamp");
  return (
    existsSync(mark) &&
    readFileSync(mark, "utf8") === stamp &&
    ["autopilot.cjs", ...outputs].every((name) => existsSync(join(dist, name)))
  );
}

function stampOf() {
  const hash = createHash("sha256");
  const inputs = [
    "package.json",
    "package-lock.json",
    "scripts/build.mjs",
    ...filesUnder(join(root, "src")).map((path) => join("src", path)),
  ];
  for (const path of inputs.filter((name) => !name.endsWith(".test.ts"))) {
    hash.update(`${path}\0`);
    hash.update(readFileSync(join(root, path)));
  }
  return hash.digest("hex");
}

function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

function replace(name, content) {
  const path = join(dist, name);
  const next = `${path}.${process.pid}.next`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(next, content);
  renameSync(next, path); // B2
}

function prune() {
  const now = Date.now();
  for (const name of filesUnder(dist)) {
    const path = join(dist, name);
    const found = statSync(path, { throwIfNoEntry: false }); // another build may be at work beside this one
    if (found === undefined || made.has(name) || name === ".stamp") continue;
    if (now - found.mtimeMs > staleAfterMs) rmSync(path, { force: true }); // B2
  }
}
