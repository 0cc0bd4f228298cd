// Makes the tarball that is installed, from a fresh build in a folder of its own: dist/ keeps chunks of older builds for processes that still run
// from it, and none of them may be shipped. The first argument is where to put it, else here.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const destination = resolve(process.argv[2] ?? ".");
const room = mkdtempSync(join(tmpdir(), "autopilot-pack-"));
try {
  for (const name of [
    "plugin",
    "schemas",
    ".claude-plugin",
    ".agents",
    "docs",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
  ])
    cpSync(join(root, name), join(room, name), { recursive: true });
  // What only developers need stays here.
  const {
    devDependencies: _dev,
    scripts: _scripts,
    overrides: _overrides,
    ...shipped
  } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  writeFileSync(join(room, "package.json"), `${JSON.stringify(shipped, null, 2)}\n`);
  run(
    process.execPath,
    [join(root, "scripts/build.mjs"), "--force", "--into", join(room, "dist")],
    root,
  );
  run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", destination], room);
} finally {
  rmSync(room, { recursive: true, force: true });
}

function run(command, argv, cwd) {
  const { status, error } = spawnSync(command, argv, {
    cwd,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${argv[0]} ended with ${status}`);
}
