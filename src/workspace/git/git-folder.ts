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
import { readErrorCode, WorkspaceFailed } from "../failure.ts";
import { readSmallFile } from "../folder.ts";
import type { GitPlaces } from "./git-places.ts";

/** Texts that git reads whole before it does anything. */
const gitTextFiles = [
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
const checkoutTextFiles = [".gitignore", ".gitattributes", ".gitmodules"];
const textBytesMax = 16 << 20;
/** Folders in which git reads and writes at any depth. */
const deepFolders = new Set(["refs", "logs", "objects", "info", "reftable", "worktrees"]);
/** S1 */
const unusedFolders = new Set(["hooks", "modules", "annex"]);
const alternatesDepthMax = 5;

/** Throws if git may not be run here. */
export function requireSafeGitFolder(places: GitPlaces): void {
  const why = explainUnsafeGitFolder(places);
  if (why === null) return;
  throw new WorkspaceFailed(
    "workspace_unusable",
    `${why} Git was not started in ${places.root}.`,
    "put an ordinary file or folder in its place, or work in a fresh clone of the repository",
  );
}

/** Why git may not be run on a repository; null if it may. Starts nothing and opens nothing but small files. */
export function explainUnsafeGitFolder({ root, gitDir, commonDir }: GitPlaces): string | null {
  const describeProblem = (path: string, why: string): string => `${relativeToRoot(root, path)} ${why}`;
  const folders = gitDir === commonDir ? [gitDir] : [commonDir, gitDir];
  for (const name of checkoutTextFiles) {
    const why = whyBlocksGit(lstatSync(join(root, name), { throwIfNoEntry: false }));
    if (why !== null) return describeProblem(join(root, name), why);
  }
  for (const folder of folders) {
    const problem = findProblem(folder, 0, (at, entry, depth) => {
      const name = entry.name.toString();
      if (entry.isSymbolicLink()) {
        if (depth === 0 && (unusedFolders.has(name) || (name === "HEAD" && isBranchLink(at)))) return null;
        return describeProblem(at, `is a link to ${readLink(at)}. Git would read and write through it.`); // S1
      }
      return isSpecial(entry) ? describeProblem(at, blocksGit) : null; // S2
    });
    if (problem !== null) return problem;
    for (const name of gitTextFiles) {
      const why = whyBlocksGit(lstatSync(join(folder, name), { throwIfNoEntry: false }));
      if (why !== null) return describeProblem(join(folder, name), why);
    }
  }
  return whyForeignGitFolder({ root, gitDir, commonDir }) ?? whyAlternatesUnsafe(root, join(commonDir, "objects"), 0);
}

type EntryCheck = (at: string, entry: Dirent<Buffer>, depth: number) => string | null;

/** The first problem below a git folder. Names are bytes: names that aren't text are checked too. */
function findProblem(folder: string, depth: number, check: EntryCheck): string | null {
  for (const entry of readEntries(folder)) {
    if (entry.isFile()) continue; // most are: thousands of objects
    const path = join(folder, entry.name.toString());
    const problem = check(path, entry, depth);
    if (problem !== null) return problem;
    if (!entry.isDirectory() || (depth === 0 && !deepFolders.has(entry.name.toString()))) continue;
    const problemBelow = findProblem(path, depth + 1, check);
    if (problemBelow !== null) return problemBelow;
  }
  return null;
}

function readEntries(folder: string): readonly Dirent<Buffer>[] {
  try {
    return readdirSync(folder, { withFileTypes: true, encoding: "buffer" });
  } catch (error) {
    if (readErrorCode(error) !== null) return []; // git itself reports what it can't open
    throw error;
  }
}

const blocksGit = "is a pipe or a device, at which git would wait.";
const isSpecial = (entry: Pick<Stats, "isFIFO" | "isCharacterDevice" | "isBlockDevice">): boolean =>
  entry.isFIFO() || entry.isCharacterDevice() || entry.isBlockDevice(); // a socket can't be opened, so nothing blocks

/** S2. A link in a checkout is not followed by git. */
function whyBlocksGit(stat: Stats | undefined): string | null {
  if (stat === undefined || stat.isDirectory()) return null;
  if (isSpecial(stat)) return blocksGit;
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
function whyForeignGitFolder({ root, gitDir, commonDir }: GitPlaces): string | null {
  const [checkout, gitFolder, commonFolder] = [realPathOrSelf(root), realPathOrSelf(gitDir), realPathOrSelf(commonDir)];
  if (gitFolder !== commonFolder) {
    const pathToCheckout = readSmallFile(join(gitDir, "gitdir"), textBytesMax)?.toString("utf8").trim() ?? "";
    const isLinkedWorktree =
      dirname(gitFolder) === join(commonFolder, "worktrees") &&
      realPathOrSelf(dirname(resolve(gitDir, pathToCheckout))) === checkout &&
      pathToCheckout !== "";
    return isLinkedWorktree
      ? null
      : `The git folder ${gitFolder} shares the branches of ${commonFolder}, which doesn't know it as a worktree of its own (git worktree repair).`;
  }
  return basename(gitFolder) === ".git" && dirname(gitFolder) !== checkout
    ? `${join(root, ".git")} leads to the git folder of ${dirname(gitFolder)}.`
    : null;
}

function realPathOrSelf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Folders from which objects are borrowed are only read: a link there may lead anywhere, but not to a pipe. */
function whyAlternatesUnsafe(root: string, objects: string, depth: number): string | null {
  const text = readSmallFile(join(objects, "info", "alternates"), textBytesMax)?.toString("utf8") ?? "";
  const alternates = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  for (const line of depth < alternatesDepthMax ? alternates : []) {
    const folder = resolve(objects, line.startsWith('"') ? unquote(line) : line);
    const problem = findProblem(folder, 1, (at, entry) => {
      const stat = entry.isSymbolicLink() ? statSync(at, { throwIfNoEntry: false }) : entry;
      return stat !== undefined && isSpecial(stat) ? `${relativeToRoot(root, at)} ${blocksGit}` : null;
    });
    const problemBelow = problem ?? whyAlternatesUnsafe(root, folder, depth + 1);
    if (problemBelow !== null) return problemBelow;
  }
  return null;
}

const unquote = (line: string): string =>
  Buffer.from(
    line
      .slice(1, line.lastIndexOf('"'))
      .replace(/\\([0-7]{3}|.)/g, (_, escaped: string) =>
        escaped.length === 3 ? String.fromCharCode(Number.parseInt(escaped, 8)) : escaped,
      ),
    "latin1",
  ).toString("utf8");

const relativeToRoot = (root: string, path: string): string => {
  const inside = relative(root, path);
  return inside.startsWith("..") ? path : inside;
};

/** Included config files are only read. */
export function explainUnsafeInclude(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  const why = whyBlocksGit(stat);
  return why === null ? null : `${path}, which the repository's configuration includes, ${why}`;
}

/** A pipe or device in a checkout, at any depth, where git opens files by name; null if there is none. For a git that takes long. */
export async function findBlockingFile(folder: string, signal: AbortSignal): Promise<string | null> {
  const pendingFolders = [folder];
  for (let current = pendingFolders.pop(); current !== undefined && !signal.aborted; current = pendingFolders.pop()) {
    try {
      for await (const entry of await opendir(current)) {
        const path = join(current, entry.name);
        if (entry.isDirectory()) pendingFolders.push(path);
        else if (isSpecial(entry) && isOpenedByGit(current, entry.name)) return `${relativeToRoot(folder, path)} ${blocksGit}`;
        else if (checkoutTextFiles.includes(entry.name)) {
          const why = whyBlocksGit(lstatSync(path, { throwIfNoEntry: false }));
          if (why !== null) return `${relativeToRoot(folder, path)} ${why}`;
        }
      }
    } catch (error) {
      if (readErrorCode(error) === null) throw error; // what can't be opened doesn't block
    }
  }
  return null;
}

const isOpenedByGit = (folder: string, name: string): boolean =>
  name.startsWith(".git") || /(?:^|\/)\.git(?:\/|$)/.test(folder) || ["HEAD", "config", "commondir", "packed-refs"].includes(name);
