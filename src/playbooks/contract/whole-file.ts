// whole-file: reading and writing a playbook's files in the user's checkout, where anything may be in their place.
//
// Invariants:
//   F1. After a crash at any moment the old file or the new one is there, never a half.
//   F2. Nothing is read or written through a link: not the file's own name, not a folder on the way to it.
//   F3. What is read is bounded before it is read.
//   F4. Only files that are registered with their format (written-files.ts) are written.
//   F5. What a crash leaves of a write is in the runner's own folder, never among the user's files, and goes with a later write.

import { randomUUID } from "node:crypto";
import { constants, lstatSync, mkdirSync, readdirSync, rmSync, type Stats } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { invariant } from "../../kit/invariant.ts";
import { isRegistered } from "./written-files.ts";

const folderModes = { private: 0o700, shared: 0o755 } as const;
const fileModes = { private: 0o600, shared: 0o644 } as const;
const careful = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The runner's own folder is for its user alone; what is among the user's documents is like them. */
const pathKind = (path: string): keyof typeof fileModes => (path.startsWith(".autopilot/") ? "private" : "shared");

/** Writes a file whole: a draft, sync, rename, sync of the folder. `path` is relative to the root. */
export async function writeWholeFile(root: string, path: string, content: string | Uint8Array): Promise<void> {
  await replaceWholeFile(root, path, content, () => Promise.resolve(true));
}

/** The same, but `mayReplace` is called last, so that hardly anything can happen between its answer and the rename. False if it refused. */
export async function replaceWholeFile(
  root: string,
  path: string,
  content: string | Uint8Array,
  mayReplace: () => Promise<boolean>,
): Promise<boolean> {
  const place = placeFor(root, path);
  const draft = draftFor(root, place);
  try {
    const file = await open(draft, "wx", fileModes[pathKind(path)]);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    if (!(await mayReplace())) {
      await rm(draft, { force: true });
      return false;
    }
    await rename(draft, place); // F1; a link of that name is replaced, what it points to is not touched: F2
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(dirname(place));
  return true;
}

const draftsFolder = ".autopilot/drafts";
const draftAgeMaxMs = 3_600_000;
const sweptRoots = new Set<string>();

/** Where the next write begins: in the runner's folder (F5); beside the file where there is none, or it is on another file system. */
export function draftFor(root: string, place: string): string {
  const own = lookAt(join(root, ".autopilot"));
  if (own?.isDirectory() !== true || own.dev !== lookAt(dirname(place))?.dev) return `${place}.${randomUUID()}.tmp`;
  const drafts = join(root, draftsFolder);
  const stats = lookAt(drafts) ?? made(drafts, folderModes.private);
  if (!stats.isDirectory()) throw new Error(inTheWay(root, drafts, stats)); // F2
  if (!sweptRoots.has(root)) sweepDrafts(drafts);
  sweptRoots.add(root);
  return join(drafts, randomUUID());
}

/** Another process may be writing one this moment, so only an old one is a crash's. */
function sweepDrafts(drafts: string): void {
  for (const name of readdirSync(drafts)) {
    const stats = lookAt(join(drafts, name));
    if (stats?.isFile() === true && Date.now() - stats.mtimeMs > draftAgeMaxMs) rmSync(join(drafts, name), { force: true });
  }
}

/** Adds to the end of a file; what is there stays. Not synced: for what is worth no wait. */
export async function appendToFile(root: string, path: string, text: string): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | careful;
  const file = await open(placeFor(root, path), flags, fileModes[pathKind(path)]);
  try {
    if (!(await file.stat()).isFile()) throw new Error(`${path} isn't a regular file; move it away`);
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}

/** Moves one file to another name in the same root; false if there was none. */
export async function moveFile(root: string, from: string, to: string): Promise<boolean> {
  const source = join(root, from);
  if (lookAt(source)?.isFile() !== true) return false;
  const target = placeFor(root, to);
  await rename(source, target);
  await syncFolder(dirname(target));
  await syncFolder(dirname(source));
  return true;
}

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

export type FileRead =
  | { readonly kind: "absent" }
  | { readonly kind: "read"; readonly bytes: Buffer }
  /** Something is there that cannot be this file: `why` ends the sentence "it …". */
  | { readonly kind: "unusable"; readonly rule: string; readonly why: string };

/** A regular file's bytes, reached without a link, if there are not too many of them. */
export async function readBounded(root: string, path: string, bytesMax: number): Promise<FileRead> {
  const blocked = wayTo(root, path);
  if (blocked === "absent") return { kind: "absent" };
  if (blocked !== null) return { kind: "unusable", rule: "not_reached", why: `cannot be reached: ${blocked}` };
  const stats = lookAt(join(root, path));
  if (stats === null) return { kind: "absent" };
  if (stats.isSymbolicLink()) return { kind: "unusable", rule: "link", why: "is a link, and links are not followed" };
  if (!stats.isFile()) return { kind: "unusable", rule: "no_file", why: `is ${stats.isDirectory() ? "a folder" : "no regular file"}` };
  try {
    const file = await open(join(root, path), constants.O_RDONLY | careful); // F2
    try {
      const { size } = await file.stat();
      if (size > bytesMax) return { kind: "unusable", rule: "too_large", why: `has ${size} bytes, at most ${bytesMax} are read` }; // F3
      return { kind: "read", bytes: await file.readFile() };
    } finally {
      await file.close();
    }
  } catch (error) {
    return { kind: "unusable", rule: "unreadable", why: `cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}` };
  }
}

/** Where a file is to be put; its folders are made, and a link or a file among them is refused. */
function placeFor(root: string, path: string): string {
  invariant(isRegistered(path), `F4: ${path} stands in written-files.ts with its format`);
  const place = join(root, path);
  let at = root;
  for (const part of pathFolders(path)) {
    at = join(at, part);
    const stats = lookAt(at) ?? made(at, folderModes[pathKind(path)]);
    if (!stats.isDirectory()) throw new Error(inTheWay(root, at, stats)); // F2
  }
  if (lookAt(place)?.isDirectory() === true) throw new Error(`${path} is a folder, so nothing can be written there; move it away`);
  return place;
}

/** Whether a path can be reached at all: its folders are there, and none of them is a link. */
export const isReachable = (root: string, path: string): boolean => wayTo(root, path) === null;

/** Null if the path can be reached. */
function wayTo(root: string, path: string): string | null {
  let at = root;
  for (const part of pathFolders(path)) {
    at = join(at, part);
    const stats = lookAt(at);
    if (stats === null) return "absent";
    if (!stats.isDirectory()) return inTheWay(root, at, stats);
  }
  return null;
}

const pathFolders = (path: string): readonly string[] =>
  dirname(path)
    .split(/[/\\]/)
    .filter((part) => part !== "" && part !== ".");

const inTheWay = (root: string, at: string, stats: Stats): string =>
  `${at.slice(root.length + 1).replaceAll(sep, "/")} is ${stats.isSymbolicLink() ? "a link, and links are not followed" : "no folder"}`;

function made(path: string, mode: number): Stats {
  mkdirSync(path, { mode, recursive: true }); // another process may have made it meanwhile
  return lstatSync(path);
}

function lookAt(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null;
}
