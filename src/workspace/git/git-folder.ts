// git-folder: whether git may be run on a repository's git folder. It is untrusted, and git writes through the links in it and blocks on
// the pipes in it.
//
// Invariants:
//   S1. Git reads and writes only inside the git folder: it must have no links, whatever their name. Hooks and modules, which no command of
//       ours uses, may be links.
//   S2. Only folders and regular files: no pipe, no device, and no text too large to be read whole.
//   S3. The git folder belongs to this checkout: a foreign `.git` pointer never moves another repository's branches.

import { lstatSync, readdirSync, readlinkSync, realpathSync, statSync, type Dirent, type Stats } from "node:fs";
import { opendir } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { errorErrno, WorkspaceFailed } from "../failure.ts";
import { readSmallFile } from "../folder.ts";
import type { GitPlaces } from "./places.ts";

/** Texts that git reads whole before it does anything. */
const texts = [
  "config",
  "config.worktree",
  "HEAD",
  "shallow",
  "commondir",
  "gitdir",
  "info/exclude",
  "info/attributes",
  "info/grafts",
  "info/sparse-checkout",
  "objects/info/alternates",
];
const checkoutTexts = [".gitignore", ".gitattributes", ".gitmodules"];
const textBytesMax = 16 << 20;
/** Folders in which git reads and writes at any depth. */
const deep = new Set(["refs", "logs", "objects", "info", "reftable", "worktrees"]);
/** S1 */
const notEntered = new Set(["hooks", "modules", "annex"]);
const alternatesDepthMax = 5;

/** Throws if git may not be run here. */
export function requireSound(places: GitPlaces): void {
  const why = whyGitFolderUnsafe(places);
  if (why === null) return;
  throw new WorkspaceFailed(
    "workspace_unusable",
    `${why} Git was not started in ${places.root}.`,
    "put an ordinary file or folder in its place, or work in a fresh clone of the repository",
  );
}

/** Why git may not be run on a repository; null if it may. Starts nothing and opens nothing but small files. */
export function whyGitFolderUnsafe({ root, gitDir, commonDir }: GitPlaces): string | null {
  const said = (path: string, why: string): string => `${shown(root, path)} ${why}`;
  const folders = gitDir === commonDir ? [gitDir] : [commonDir, gitDir];
  for (const name of checkoutTexts) {
    const why = whyWaits(lstatSync(join(root, name), { throwIfNoEntry: false }));
    if (why !== null) return said(join(root, name), why);
  }
  for (const folder of folders) {
    const found = walk(folder, 0, (at, entry, depth) => {
      const name = entry.name.toString();
      if (entry.isSymbolicLink()) {
        if (depth === 0 && (notEntered.has(name) || (name === "HEAD" && isBranchLink(at)))) return null;
        return said(at, `is a link to ${readLink(at)}. Git would read and write through it.`); // S1
      }
      return isSpecial(entry) ? said(at, waits) : null; // S2
    });
    if (found !== null) return found;
    for (const name of texts) {
      const why = whyWaits(lstatSync(join(folder, name), { throwIfNoEntry: false }));
      if (why !== null) return said(join(folder, name), why);
    }
  }
  return whyNotItsOwn({ root, gitDir, commonDir }) ?? whyAlternates(root, join(commonDir, "objects"), 0);
}

type Seen = (at: string, entry: Dirent<Buffer>, depth: number) => string | null;

/** The first problem below a git folder. Names are bytes: names that aren't text are checked too. */
function walk(folder: string, depth: number, seen: Seen): string | null {
  for (const entry of readEntries(folder)) {
    if (entry.isFile()) continue; // most are: thousands of objects
    const at = join(folder, entry.name.toString());
    const found = seen(at, entry, depth);
    if (found !== null) return found;
    if (!entry.isDirectory() || (depth === 0 && !deep.has(entry.name.toString()))) continue;
    const below = walk(at, depth + 1, seen);
    if (below !== null) return below;
  }
  return null;
}

function readEntries(folder: string): readonly Dirent<Buffer>[] {
  try {
    return readdirSync(folder, { withFileTypes: true, encoding: "buffer" });
  } catch (error) {
    if (errorErrno(error) !== null) return []; // git itself reports what it can't open
    throw error;
  }
}

const waits = "is a pipe or a device, at which git would wait.";
const isSpecial = (entry: Pick<Stats, "isFIFO" | "isCharacterDevice" | "isBlockDevice">): boolean =>
  entry.isFIFO() || entry.isCharacterDevice() || entry.isBlockDevice(); // a socket can't be opened, so nothing blocks

/** S2. A link in a checkout is not followed by git. */
function whyWaits(stat: Stats | undefined): string | null {
  if (stat === undefined || stat.isDirectory()) return null;
  if (isSpecial(stat)) return waits;
  return stat.isFile() && stat.size > textBytesMax ? `has ${stat.size} bytes, and git would read all of it.` : null;
}

/** As old versions of git made it: HEAD as a link to its branch. */
const isBranchLink = (path: string): boolean => /^refs\/(?!.*\.\.)/.test(readLink(path));

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "another place";
  }
}

/** S3 */
function whyNotItsOwn({ root, gitDir, commonDir }: GitPlaces): string | null {
  const [checkout, own, common] = [real(root), real(gitDir), real(commonDir)];
  if (own !== common) {
    const back = readSmallFile(join(gitDir, "gitdir"), textBytesMax)?.toString("utf8").trim() ?? "";
    const isLinked = dirname(own) === join(common, "worktrees") && real(dirname(resolve(gitDir, back))) === checkout && back !== "";
    return isLinked
      ? null
      : `The git folder ${own} shares the branches of ${common}, which doesn't know it as a worktree of its own (git worktree repair).`;
  }
  return basename(own) === ".git" && dirname(own) !== checkout ? `${join(root, ".git")} leads to the git folder of ${dirname(own)}.` : null;
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Folders from which objects are borrowed are only read: a link there may lead anywhere, but not to a pipe. */
function whyAlternates(root: string, objects: string, depth: number): string | null {
  const text = readSmallFile(join(objects, "info", "alternates"), textBytesMax)?.toString("utf8") ?? "";
  const named = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  for (const line of depth < alternatesDepthMax ? named : []) {
    const folder = resolve(objects, line.startsWith('"') ? unquoted(line) : line);
    const found = walk(folder, 1, (at, entry) => {
      const stat = entry.isSymbolicLink() ? statSync(at, { throwIfNoEntry: false }) : entry;
      return stat !== undefined && isSpecial(stat) ? `${shown(root, at)} ${waits}` : null;
    });
    const further = found ?? whyAlternates(root, folder, depth + 1);
    if (further !== null) return further;
  }
  return null;
}

const unquoted = (line: string): string =>
  Buffer.from(
    line
      .slice(1, line.lastIndexOf('"'))
      .replace(/\\([0-7]{3}|.)/g, (_, escaped: string) =>
        escaped.length === 3 ? String.fromCharCode(Number.parseInt(escaped, 8)) : escaped,
      ),
    "latin1",
  ).toString("utf8");

const shown = (root: string, path: string): string => {
  const inside = relative(root, path);
  return inside.startsWith("..") ? path : inside;
};

/** Included config files are only read. */
export function whyInclude(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  const why = whyWaits(stat);
  return why === null ? null : `${path}, which the repository's configuration includes, ${why}`;
}

/** A pipe or device in a checkout, at any depth, where git opens files by name; null if there is none. For a git that takes long. */
export async function whereGitWaits(folder: string, ended: AbortSignal): Promise<string | null> {
  const left = [folder];
  for (let at = left.pop(); at !== undefined && !ended.aborted; at = left.pop()) {
    try {
      for await (const entry of await opendir(at)) {
        const path = join(at, entry.name);
        if (entry.isDirectory()) left.push(path);
        else if (isSpecial(entry) && isOpenedByGit(at, entry.name)) return `${shown(folder, path)} ${waits}`;
        else if (checkoutTexts.includes(entry.name)) {
          const why = whyWaits(lstatSync(path, { throwIfNoEntry: false }));
          if (why !== null) return `${shown(folder, path)} ${why}`;
        }
      }
    } catch (error) {
      if (errorErrno(error) === null) throw error; // what can't be opened doesn't block
    }
  }
  return null;
}

const isOpenedByGit = (folder: string, name: string): boolean =>
  name.startsWith(".git") || /(?:^|\/)\.git(?:\/|$)/.test(folder) || ["HEAD", "config", "commondir", "packed-refs"].includes(name);
