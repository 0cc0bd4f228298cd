// user-view: opens a git directory of the runner's own through which the user's checkout is read
// and updated. It has the repository's objects, branches, index and ignore rules, and none of its
// configuration.
//
// A repository's configuration can name programs (filters, monitors, signers, transports), and is
// untrusted.
//
// Invariants:
//   U1. No line of the repository's own configuration counts except for a few about how files are
//       on this disk, taken by name and only if their value is a plain word. Settings of future git
//       versions are not among them.
//   U2. The user's own configuration (global, system) counts: filters that they installed for
//       themselves still run.
//   U3. What git may write is the repository's own: its objects and refs by links, its index by
//       name, with its lock. HEAD and the settings are copies, which no call of ours changes. The
//       index is written whole: a part that git shares between indexes would be written into the
//       view, and go with it.

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { readErrorCode, WorkspaceFailed } from "../failure.ts";
import { eraseSync, readSmallFile } from "../folder.ts";
import { createTemporaryFolder } from "../temporary-folder.ts";
import type { GitContext } from "./safe-git-call.ts";
import type { GitPlaces } from "./git-places.ts";

const smallBytesMax = 1 << 20;

/**
 * U1: settings about how files are on this disk, how large files are treated, or the repository's
 * layout.
 */
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

/**
 * The views by git folder. They are in this process's temporary folder, which the next process
 * sweeps if this one is killed.
 */
const viewsByGitDir = new Map<string, Promise<string>>();
const createdViews: string[] = [];
const deleteViews = (): void => createdViews.forEach((view) => eraseSync(view));

type UserViewCall = GitContext & { readonly env: Readonly<Record<string, string>> };

/**
 * How git is run on the user's checkout if it reads or writes files there, and so may have to run a
 * filter.
 */
export async function openUserView({ root, gitDir, commonDir }: GitPlaces): Promise<UserViewCall> {
  const creating = viewsByGitDir.get(gitDir) ?? createView({ root, gitDir, commonDir });
  viewsByGitDir.set(gitDir, creating);
  let view: string;

  try {
    view = await creating;
    refreshView(view, { root, gitDir, commonDir });
  } catch (error) {
    viewsByGitDir.delete(gitDir);
    if (readErrorCode(error) !== "ENOENT") throw error;
    if (!existsSync(gitDir)) {
      throw new WorkspaceFailed("workspace_unusable", `The git folder ${gitDir} is gone.`);
    }

    return openUserView({ root, gitDir, commonDir }); // the system cleans temporary folders up now and then
  }

  return {
    cwd: root,
    isOwn: true,
    into: { root, gitDir, commonDir },
    config: "user", // U2
    env: { GIT_DIR: view, GIT_WORK_TREE: root, GIT_INDEX_FILE: join(gitDir, "index") },
  };
}

async function createView({ gitDir, commonDir }: GitPlaces): Promise<string> {
  const view = await createTemporaryFolder("view");
  if (createdViews.length === 0) process.prependOnceListener("exit", deleteViews); // before the folder around them is removed
  createdViews.push(view);
  mkdirSync(join(view, "info"));

  for (const name of [
    "objects",
    "refs",
    "packed-refs",
    "reftable",
    "shallow",
    "lfs",
    "info/exclude",
    "info/attributes",
  ]) {
    symlinkSync(join(commonDir, name), join(view, name));
  } // U3

  symlinkSync(join(gitDir, "info/sparse-checkout"), join(view, "info/sparse-checkout"));
  return view;
}

/** Copies what may have changed since: the allowed settings and HEAD. Shared indexes are linked. */
function refreshView(view: string, { gitDir, commonDir }: GitPlaces): void {
  const sharedConfig =
    readSmallFile(join(commonDir, "config"), smallBytesMax)?.toString("utf8") ?? "";
  // Sparse checkouts are configured in a file of the worktree's own, in the main checkout too.
  const hasWorktreeConfig = /^\s*worktreeconfig\s*=\s*(?:true|yes|on|1)\s*$/im.test(sharedConfig);
  const worktreeConfig = hasWorktreeConfig
    ? (readSmallFile(join(gitDir, "config.worktree"), smallBytesMax)?.toString("utf8") ?? "")
    : "";
  const settings = [sharedConfig, worktreeConfig].flatMap(parseAllowedSettings);
  writeIfChanged(
    join(view, "config"),
    ["[core]", "\tbare = false", ...settings, "[core]", "\tsplitIndex = false", ""].join("\n"),
  ); // U3

  writeIfChanged(
    join(view, "HEAD"),
    readSmallFile(join(gitDir, "HEAD"), smallBytesMax)?.toString("utf8") ??
      "ref: refs/heads/none\n",
  );

  for (const name of readdirSync(gitDir).filter((file) => file.startsWith("sharedindex."))) {
    if (lstatSync(join(view, name), { throwIfNoEntry: false }) === undefined) {
      symlinkSync(join(gitDir, name), join(view, name));
    }
  }
}

/**
 * The allowed lines of a configuration (U1). Sections with a name, values that aren't plain words
 * and multi-line values are skipped.
 */
export function parseAllowedSettings(text: string): readonly string[] {
  const settings: string[] = [];
  let section = "";

  for (const line of text.split("\n")) {
    const isSectionLine = /^\s*\[/.test(line);
    if (isSectionLine) section = /^\s*\[(\w+)\]\s*$/.exec(line)?.[1]?.toLowerCase() ?? ""; // `[core]`, not `[remote "origin"]`
    const [, key = "", value = ""] = /^\s*([a-z][a-z0-9-]*)\s*=\s*([\w.-]+)\s*$/i.exec(line) ?? []; // `fileMode = true`

    if (allowedSettings.has(`${section}.${key.toLowerCase()}`)) {
      settings.push(`[${section}]`, `\t${key} = ${value}`);
    }
  }

  return settings;
}

/**
 * A git that reads the file meanwhile gets the old or the new text. Nobody but this process writes
 * in its view.
 */
function writeIfChanged(path: string, text: string): void {
  if (readSmallFile(path, smallBytesMax)?.toString("utf8") === text) return;
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
