// git-folder: checks whether git may be run on a repository's git folder. The folder is untrusted:
// git would write through links in it, and wait for pipes in it.
//
// Invariants:
//   S1. Git reads and writes only inside the git folder: where it does, there are no links. Exempt
//       are the folders `hooks`, `modules` and `annex`, which no command of ours uses, and a HEAD
//       that is a link to its branch, as old versions of git made it.
//   S2. No pipe and no device, and no text too large to be read whole.
//   S3. The git folder belongs to this checkout: a foreign `.git` pointer never moves another
//       repository's branches.

import {
  lstatSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
  type Dirent,
  type Stats,
} from "node:fs";
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
/** As deep as git itself follows folders that borrow objects from others. */
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

/**
 * Why git may not be run on a repository; null if it may. Starts nothing and opens nothing but
 * small files.
 */
export function explainUnsafeGitFolder({ root, gitDir, commonDir }: GitPlaces): string | null {
  const folders = gitDir === commonDir ? [gitDir] : [commonDir, gitDir];
  const checkEntry: EntryCheck = (path, entry, depth) => {
    const [name, shownPath] = [entry.name.toString(), relativeToRoot(root, path.toString())];
    if (entry.isSymbolicLink()) {
      if (depth === 0 && (unusedFolders.has(name) || (name === "HEAD" && isBranchLink(path)))) {
        return null;
      }

      return `${shownPath} is a link to ${readLinkTarget(path)}. Git would read and write through it.`; // S1
    }

    return isSpecial(entry) ? `${shownPath} ${blockingProblem}` : null; // S2
  };
  return (
    findBlockingText(root, root, checkoutTextFiles) ??
    findFirst(
      folders,
      (folder) =>
        findProblem(Buffer.from(folder), 0, checkEntry) ??
        findBlockingText(root, folder, gitTextFiles),
    ) ??
    explainForeignGitFolder({ root, gitDir, commonDir }) ??
    explainUnsafeAlternates(root, Buffer.from(join(commonDir, "objects")), 0)
  );
}

/** The first of these files in a folder that would block git. */
const findBlockingText = (root: string, folder: string, names: readonly string[]): string | null =>
  findFirst(names, (name) => {
    const problem = explainBlocking(statIfReadable(join(folder, name), lstatSync));
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

/**
 * Says what is wrong with an entry that is no regular file. `depth` is 0 at the top of the git
 * folder.
 */
type EntryCheck = (path: Buffer, entry: Dirent<Buffer>, depth: number) => string | null;

/**
 * The first problem in a git folder: at its top, and below `deepFolders`. Paths are bytes, since a
 * name need not be text.
 */
function findProblem(folder: Buffer, depth: number, check: EntryCheck): string | null {
  for (const entry of readEntries(folder)) {
    if (entry.isFile()) continue; // most are: thousands of objects
    const path = Buffer.concat([folder, Buffer.from("/"), entry.name]);
    const problem = check(path, entry, depth);
    if (problem !== null) return problem;
    if (!entry.isDirectory() || (depth === 0 && !deepFolders.has(entry.name.toString()))) continue;
    const problemBelow = findProblem(path, depth + 1, check);
    if (problemBelow !== null) return problemBelow;
  }

  return null;
}

function readEntries(folder: Buffer): readonly Dirent<Buffer>[] {
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

/**
 * The stat data of a path; undefined if there is none, or if it can't be reached: git itself
 * reports that.
 */
function statIfReadable(path: string | Buffer, readStat: typeof statSync): Stats | undefined {
  try {
    return readStat(path, { throwIfNoEntry: false });
  } catch (error) {
    if (readErrorCode(error) !== null) return undefined;
    throw error;
  }
}

/**
 * Why git would wait for a file, or read too much of it (S2). Nothing is said of a link: in a
 * checkout git does not follow it.
 */
function explainBlocking(stat: Stats | undefined): string | null {
  if (stat === undefined || stat.isDirectory()) return null;
  if (isSpecial(stat)) return blockingProblem;
  return stat.isFile() && stat.size > textBytesMax
    ? `has ${stat.size} bytes, and git would read all of it.`
    : null;
}

/** Whether HEAD is a link to its branch, as old versions of git made it. */
const isBranchLink = (path: Buffer): boolean => /^refs\/(?!.*\.\.)/.test(readLinkTarget(path));

function readLinkTarget(path: Buffer): string {
  try {
    return readlinkSync(path);
  } catch {
    return "another place";
  }
}

/** Why the git folder isn't this checkout's own (S3); null if it is. */
function explainForeignGitFolder({ root, gitDir, commonDir }: GitPlaces): string | null {
  const [checkout, gitFolder, commonFolder] = [
    toRealPath(root),
    toRealPath(gitDir),
    toRealPath(commonDir),
  ];
  if (gitFolder !== commonFolder) {
    const pathToCheckout =
      readSmallFile(join(gitDir, "gitdir"), textBytesMax)?.toString("utf8").trim() ?? "";
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

/**
 * Folders from which objects are borrowed are only read: a link there may lead anywhere, but not to
 * a pipe. Paths are bytes here too.
 */
function explainUnsafeAlternates(root: string, objects: Buffer, depth: number): string | null {
  const objectsPath = objects.toString("latin1");
  const text =
    readSmallFile(Buffer.from(`${objectsPath}/info/alternates`, "latin1"), textBytesMax)?.toString(
      "latin1",
    ) ?? "";
  const alternates = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  for (const line of depth < alternatesDepthMax ? alternates : []) {
    const folder = Buffer.from(resolve(objectsPath, unquotePath(line)), "latin1");
    // The depth is 1 rather than 0, so that every subfolder is searched.
    const problem = findProblem(folder, 1, (path, entry) => {
      const stat = entry.isSymbolicLink() ? statIfReadable(path, statSync) : entry;
      return stat !== undefined && isSpecial(stat)
        ? `${relativeToRoot(root, path.toString())} ${blockingProblem}`
        : null;
    });
    const problemBelow = problem ?? explainUnsafeAlternates(root, folder, depth + 1);
    if (problemBelow !== null) return problemBelow;
  }

  return null;
}

/**
 * A line that git reads as quoted: `"a\303\244\t"`. Any other line is a path as it is, even if it
 * begins with a quote.
 */
const quotedPath = /^"((?:[^"\\]|\\(?:[0-3][0-7]{2}|[abfnrtv"\\]))*)"/;
const escapedCharacters: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/**
 * Undoes git's quoting of a path, if it is quoted. The path is its bytes, one character each
 * (latin1).
 */
function unquotePath(line: string): string {
  const quoted = quotedPath.exec(line)?.[1];
  if (quoted === undefined) return line;
  return quoted.replace(/\\([0-7]{3}|.)/g, (_, escaped: string) =>
    escaped.length === 3
      ? String.fromCharCode(Number.parseInt(escaped, 8))
      : (escapedCharacters[escaped] ?? escaped),
  );
}

/** A path as it is shown: relative to the checkout if it is inside. */
const relativeToRoot = (root: string, path: string): string => {
  const relativePath = relative(root, path);
  return relativePath.startsWith("..") ? path : relativePath;
};

/** Why git may not read an included config file. Those are only read, so a link is harmless. */
export function explainUnsafeInclude(path: string): string | null {
  const problem = explainBlocking(statIfReadable(path, statSync));
  return problem === null
    ? null
    : `${path}, which the repository's configuration includes, ${problem}`;
}

/**
 * Finds a file in a checkout, at any depth, at which git would wait or read too much; null if there
 * is none. For a git that takes long.
 */
export async function findBlockingFile(
  folder: string,
  signal: AbortSignal,
): Promise<string | null> {
  const pendingFolders = [folder];
  for (
    let current = pendingFolders.pop();
    current !== undefined && !signal.aborted;
    current = pendingFolders.pop()
  ) {
    try {
      for await (const entry of await opendir(current)) {
        const path = join(current, entry.name);
        if (entry.isDirectory()) {
          pendingFolders.push(path);
        } else if (isSpecial(entry) && isOpenedByGit(current, entry.name)) {
          return `${relativeToRoot(folder, path)} ${blockingProblem}`;
        } else if (checkoutTextFiles.includes(entry.name)) {
          const problem = explainBlocking(statIfReadable(path, lstatSync));
          if (problem !== null) return `${relativeToRoot(folder, path)} ${problem}`;
        }
      }
    } catch (error) {
      if (readErrorCode(error) === null) throw error; // what can't be opened doesn't block
    }
  }

  return null;
}

/** Git's own files, and those by which it sees whether a folder of any name is a repository. */
const isOpenedByGit = (folder: string, name: string): boolean =>
  name.startsWith(".git") ||
  /(?:^|\/)\.git(?:\/|$)/.test(folder) ||
  ["HEAD", "config", "commondir", "packed-refs"].includes(name);
