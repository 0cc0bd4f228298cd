// git-folder: checks whether git may be run on a repository's git folder. The folder is untrusted: git would write through links in it, and
// wait for pipes in it.
//
// Invariants:
//   S1. Git reads and writes only inside the git folder, so there may be no links in it. Hooks and modules, which no command of ours uses,
//       may be links.
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
/** Folders that no git command of ours uses (S1). */
const unusedFolders = new Set(["hooks", "modules", "annex"]);
const alternatesDepthMax = 5;

/** Throws if git may not be run here. */
export function requireSafeGitFolder(places: GitPlaces): void {
  const problem = explainUnsafeGitFolder(places);
  if (problem === null) return;
  throw new WorkspaceFailed(
    "workspace_unusable",
    `${problem} Git was not started in ${places.root}.`,
    "put an ordinary file or folder in its place, or work in a fresh clone of the repository",
  );
}

/** Why git may not be run on a repository; null if it may. Starts nothing and opens nothing but small files. */
export function explainUnsafeGitFolder({ root, gitDir, commonDir }: GitPlaces): string | null {
  const folders = gitDir === commonDir ? [gitDir] : [commonDir, gitDir];
  const checkEntry: EntryCheck = (path, entry, depth) => {
    const name = entry.name.toString();
    if (entry.isSymbolicLink()) {
      if (depth === 0 && (unusedFolders.has(name) || (name === "HEAD" && isBranchLink(path)))) return null;
      return `${relativeToRoot(root, path)} is a link to ${readLinkTarget(path)}. Git would read and write through it.`; // S1
    }
    return isSpecial(entry) ? `${relativeToRoot(root, path)} ${blockingProblem}` : null; // S2
  };
  return (
    findBlockingText(root, root, checkoutTextFiles) ??
    findFirst(folders, (folder) => findProblem(folder, 0, checkEntry) ?? findBlockingText(root, folder, gitTextFiles)) ??
    explainForeignGitFolder({ root, gitDir, commonDir }) ??
    explainUnsafeAlternates(root, join(commonDir, "objects"), 0)
  );
}

/** The first of these files in a folder that would block git. */
const findBlockingText = (root: string, folder: string, names: readonly string[]): string | null =>
  findFirst(names, (name) => {
    const problem = explainBlocking(lstatSync(join(folder, name), { throwIfNoEntry: false }));
    return problem === null ? null : `${relativeToRoot(root, join(folder, name))} ${problem}`;
  });

/** The first answer about these items that isn't null. */
function findFirst<T>(items: readonly T[], check: (item: T) => string | null): string | null {
  for (const item of items) {
    const answer = check(item);
    if (answer !== null) return answer;
  }
  return null;
}

type EntryCheck = (path: string, entry: Dirent<Buffer>, depth: number) => string | null;

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

const blockingProblem = "is a pipe or a device, at which git would wait.";
const isSpecial = (entry: Pick<Stats, "isFIFO" | "isCharacterDevice" | "isBlockDevice">): boolean =>
  entry.isFIFO() || entry.isCharacterDevice() || entry.isBlockDevice(); // a socket can't be opened, so nothing blocks

/** Why git would wait for a file, or read too much of it (S2). Git does not follow a link in a checkout. */
function explainBlocking(stat: Stats | undefined): string | null {
  if (stat === undefined || stat.isDirectory()) return null;
  if (isSpecial(stat)) return blockingProblem;
  return stat.isFile() && stat.size > textBytesMax ? `has ${stat.size} bytes, and git would read all of it.` : null;
}

/** Whether HEAD is a link to its branch, as old versions of git made it. */
const isBranchLink = (path: string): boolean => /^refs\/(?!.*\.\.)/.test(readLinkTarget(path));

function readLinkTarget(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "another place";
  }
}

/** Why the git folder isn't this checkout's own (S3); null if it is. */
function explainForeignGitFolder({ root, gitDir, commonDir }: GitPlaces): string | null {
  const [checkout, gitFolder, commonFolder] = [toRealPath(root), toRealPath(gitDir), toRealPath(commonDir)];
  if (gitFolder !== commonFolder) {
    const pathToCheckout = readSmallFile(join(gitDir, "gitdir"), textBytesMax)?.toString("utf8").trim() ?? "";
    const isLinkedWorktree =
      dirname(gitFolder) === join(commonFolder, "worktrees") &&
      toRealPath(dirname(resolve(gitDir, pathToCheckout))) === checkout &&
      pathToCheckout !== "";
    return isLinkedWorktree
      ? null
      : `The git folder ${gitFolder} shares the branches of ${commonFolder}, which doesn't know it as a worktree of its own (git worktree repair).`;
  }
  return basename(gitFolder) === ".git" && dirname(gitFolder) !== checkout
    ? `${join(root, ".git")} leads to the git folder of ${dirname(gitFolder)}.`
    : null;
}

function toRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Folders from which objects are borrowed are only read: a link there may lead anywhere, but not to a pipe. */
function explainUnsafeAlternates(root: string, objects: string, depth: number): string | null {
  const text = readSmallFile(join(objects, "info", "alternates"), textBytesMax)?.toString("utf8") ?? "";
  const alternates = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  for (const line of depth < alternatesDepthMax ? alternates : []) {
    const folder = resolve(objects, line.startsWith('"') ? unquote(line) : line);
    const problem = findProblem(folder, 1, (path, entry) => {
      const stat = entry.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : entry;
      return stat !== undefined && isSpecial(stat) ? `${relativeToRoot(root, path)} ${blockingProblem}` : null;
    });
    const problemBelow = problem ?? explainUnsafeAlternates(root, folder, depth + 1);
    if (problemBelow !== null) return problemBelow;
  }
  return null;
}

/** Undoes git's quoting of a path: `"a\303\244"` is `aä`. */
const unquote = (line: string): string =>
  Buffer.from(
    line
      .slice(1, line.lastIndexOf('"'))
      .replace(/\\([0-7]{3}|.)/g, (_, escaped: string) =>
        escaped.length === 3 ? String.fromCharCode(Number.parseInt(escaped, 8)) : escaped,
      ),
    "latin1",
  ).toString("utf8");

/** A path as it is shown: relative to the checkout if it is inside. */
const relativeToRoot = (root: string, path: string): string => {
  const relativePath = relative(root, path);
  return relativePath.startsWith("..") ? path : relativePath;
};

/** Why git may not read an included config file. Those are only read, so a link is harmless. */
export function explainUnsafeInclude(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  const problem = explainBlocking(stat);
  return problem === null ? null : `${path}, which the repository's configuration includes, ${problem}`;
}

/** Finds a pipe or device in a checkout, at any depth, that git would open; null if there is none. For a git that takes long. */
export async function findBlockingFile(folder: string, signal: AbortSignal): Promise<string | null> {
  const pendingFolders = [folder];
  for (let current = pendingFolders.pop(); current !== undefined && !signal.aborted; current = pendingFolders.pop()) {
    try {
      for await (const entry of await opendir(current)) {
        const path = join(current, entry.name);
        if (entry.isDirectory()) pendingFolders.push(path);
        else if (isSpecial(entry) && isOpenedByGit(current, entry.name)) return `${relativeToRoot(folder, path)} ${blockingProblem}`;
        else if (checkoutTextFiles.includes(entry.name)) {
          const problem = explainBlocking(lstatSync(path, { throwIfNoEntry: false }));
          if (problem !== null) return `${relativeToRoot(folder, path)} ${problem}`;
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
