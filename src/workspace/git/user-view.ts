// user-view: the runner's own git directory through which the user's checkout is read and updated. It has the repository's objects,
// branches, index and ignore rules, and none of its configuration.
//
// A repository's configuration can name programs (filters, monitors, signers, transports), and is untrusted.
//
// Invariants:
//   U1. No line of the repository's own configuration counts except for a few about how files are on this disk, taken by name and only if
//       their value is a plain word. Settings of future git versions are not among them.
//   U2. The user's own configuration (global, system) counts: filters that they installed for themselves still run.
//   U3. The view shares with the repository only by links; the index is the repository's own, with its lock.

import { lstatSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorErrno } from "../failure.ts";
import { eraseSync, readSmallFile } from "../folder.ts";
import type { GitCall } from "./git.ts";
import type { GitPlaces } from "./places.ts";

const smallBytesMax = 1 << 20;
const staleMs = 24 * 3_600_000;
const prefix = "autopilot-view-";

/** U1: settings about how files are on this disk, or the repository's layout. */
const allowedSettings = new Set(
  [
    "repositoryformatversion",
    "filemode",
    "ignorecase",
    "precomposeunicode",
    "symlinks",
    "autocrlf",
    "eol",
    "safecrlf",
    "trustctime",
    "checkstat",
    "sparsecheckout",
    "sparsecheckoutcone",
    "bigfilethreshold",
    "longpaths",
  ]
    .map((name) => `core.${name}`)
    .concat("extensions.objectformat", "extensions.refstorage", "index.sparse", "index.version"),
);

const views = new Map<string, string>();
let isRegistered = false;
const deleteViews = (): void => {
  for (const view of views.values()) eraseSync(view);
};

/** How git is run on the user's checkout where it may have to run a filter. */
export function userViewCall({
  root,
  gitDir,
  commonDir,
}: GitPlaces): Omit<GitCall, "args"> & { readonly env: Readonly<Record<string, string>> } {
  const view = views.get(gitDir) ?? createView({ root, gitDir, commonDir });
  views.set(gitDir, view);
  try {
    refresh(view, { root, gitDir, commonDir });
  } catch (error) {
    if (errorErrno(error) !== "ENOENT") throw error;
    views.delete(gitDir); // temporary folders are cleaned up now and then
    return userViewCall({ root, gitDir, commonDir });
  }
  return {
    cwd: root,
    isOwn: true,
    into: { root, gitDir, commonDir },
    config: "user", // U2
    env: { GIT_DIR: view, GIT_WORK_TREE: root, GIT_INDEX_FILE: join(gitDir, "index") },
  };
}

function createView({ gitDir, commonDir }: GitPlaces): string {
  deleteStaleViews();
  const view = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
  if (!isRegistered) process.once("exit", deleteViews);
  isRegistered = true;
  mkdirSync(join(view, "info"));
  for (const name of ["objects", "refs", "packed-refs", "reftable", "shallow", "lfs", "info/exclude", "info/attributes"])
    symlinkSync(join(commonDir, name), join(view, name)); // U3
  symlinkSync(join(gitDir, "info/sparse-checkout"), join(view, "info/sparse-checkout"));
  return view;
}

function refresh(view: string, { gitDir, commonDir }: GitPlaces): void {
  const shared = readSmallFile(join(commonDir, "config"), smallBytesMax)?.toString("utf8") ?? "";
  // Sparse checkouts are set up there, in the main checkout too.
  const hasOwnConfig = /^\s*worktreeconfig\s*=\s*(?:true|yes|on|1)\s*$/im.test(shared);
  const own = hasOwnConfig ? (readSmallFile(join(gitDir, "config.worktree"), smallBytesMax)?.toString("utf8") ?? "") : "";
  const settings = [shared, own].flatMap(parseAllowedSettings);
  writeIfChanged(join(view, "config"), ["[core]", "\tbare = false", ...settings, ""].join("\n"));
  writeIfChanged(join(view, "HEAD"), readSmallFile(join(gitDir, "HEAD"), smallBytesMax)?.toString("utf8") ?? "ref: refs/heads/none\n");
  for (const name of readdirSync(gitDir).filter((file) => file.startsWith("sharedindex.")))
    if (lstatSync(join(view, name), { throwIfNoEntry: false }) === undefined) symlinkSync(join(gitDir, name), join(view, name));
}

/** U1. A named section, a value that is not a plain word, and multi-line values are skipped. */
export function parseAllowedSettings(text: string): readonly string[] {
  let section = "";
  return text.split("\n").flatMap((line) => {
    section = /^\s*\[/.test(line) ? (/^\s*\[(\w+)\]\s*$/.exec(line)?.[1]?.toLowerCase() ?? "") : section;
    const [, key = "", value = ""] = /^\s*([a-z][a-z0-9-]*)\s*=\s*([\w.-]+)\s*$/i.exec(line) ?? [];
    return allowedSettings.has(`${section}.${key.toLowerCase()}`) ? [`[${section}]`, `\t${key} = ${value}`] : [];
  });
}

/** Not atomic: a git that reads the file meanwhile gets the old or the new text, which are short and mostly the same. */
function writeIfChanged(path: string, text: string): void {
  if (readSmallFile(path, smallBytesMax)?.toString("utf8") !== text) writeFileSync(path, text);
}

/** Views of processes that were killed long ago. */
function deleteStaleViews(): void {
  for (const name of readdirSync(tmpdir()).filter((file) => file.startsWith(prefix))) {
    const folder = join(tmpdir(), name);
    const stat = lstatSync(folder, { throwIfNoEntry: false });
    const pid = Number(/^\d+/.exec(name.slice(prefix.length))?.[0] ?? 0);
    if (stat?.isDirectory() !== true || stat.uid !== process.getuid?.() || Date.now() - stat.mtimeMs < staleMs || isAlive(pid)) continue;
    eraseSync(folder);
  }
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return errorErrno(error) !== "ESRCH";
  }
}
