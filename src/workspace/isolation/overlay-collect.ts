// overlay-collect: merges what a command wrote into an overlay into its folder.
//
// What was written is in the overlay's upper folder. What was deleted the kernel knows: the overlay is mounted again in a private
// namespace, and what the folder has and the overlay has not is deleted. The on-disk format of whiteouts need not be known for that.
//
// Invariants:
//   C1. No link is followed on either side: every folder is opened by its name inside the one before it.
//   C2. If it is killed at any moment, the next collect ends with the same folder: written files are hard-linked into the folder, and stay
//       in the overlay until everything is merged.
//   C3. Files are merged as what they are: links, pipes and hard links too, so that the judge (layers/judge-layer.ts) sees them.
//   C4. Only the overlay itself decides what is deleted.

import { spawn } from "node:child_process";
import { chmodSync, closeSync, constants, existsSync, fstatSync, mkdirSync, openSync, readdirSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { joinBytePath, bytePathParts, type BytePath } from "../git/byte-path.ts";
import { readErrorCode, WorkspaceFailed } from "../failure.ts";
import { explainDiskFull } from "../disk-room.ts";
import { discard } from "../folder.ts";
import { readKindAt, makeAccessible, linkInto, listNamesAt, makeFolder, moveAway, withFolderHandle, type FolderHandle } from "./overlay-fd.ts";
import {
  overlayNames,
  findOverlayFolder,
  overlayPrefix,
  overlaysRoot,
  createOverlayFolders,
  composeMountedShell,
  type MountPrograms,
} from "./overlay-place.ts";

export type CollectInput = {
  readonly runDir: string;
  readonly folder: string;
  readonly programs: MountPrograms;
  /** For fault tests: called before every change of the folder. */
  readonly failpoint?: () => void;
};

const entriesMax = 2_000_000;
const depthMax = 128;
const mountTimeoutMs = 20_000;
const sliceMs = 25;

export async function mergeOverlay(input: CollectInput): Promise<void> {
  const { runDir, folder } = input;
  const trash = join(runDir, "trash");
  const overlay = findOverlayFolder(runDir, folder);
  await discardOutdated(runDir, folder, overlay, trash);
  if (overlay === null || !existsSync(join(overlay, overlayNames.upper))) return;
  try {
    await collectFrom(input, overlay);
  } catch (error) {
    const code = readErrorCode(error);
    if (code === null) throw error;
    const full = explainDiskFull(code, [folder]);
    throw new WorkspaceFailed(
      full === null ? "workspace_unusable" : "disk_full",
      `${full === null ? "" : `${full} `}What an agent wrote could not be brought into its layer (${code}).`,
    );
  }
  await discard(overlay, trash); // C2
}

async function collectFrom(input: CollectInput, overlayFolder: string): Promise<void> {
  const upper = join(overlayFolder, overlayNames.upper);
  chmodSync(upper, 0o755); // the command may have closed its own folder
  if (readdirSync(upper).length === 0) return;
  createOverlayFolders(overlayFolder, input.folder);
  mkdirSync(join(overlayFolder, overlayNames.gone), { recursive: true });
  const shared = await findSharedFolders(upper, input.folder);
  await mergeIntoFolder(input, overlayFolder, await readDifferences(input, overlayFolder, shared));
}

/** Results for an earlier folder of the same name are obsolete. */
async function discardOutdated(runDir: string, folder: string, current: string | null, trash: string): Promise<void> {
  const root = overlaysRoot(runDir);
  const names = await readdir(root).catch(() => []);
  for (const name of names)
    if (name.startsWith(overlayPrefix(folder)) && join(root, name) !== current) await discard(join(root, name), trash);
}

/**
 * The folders that are both in the upper and the lower layer: only in these can something be deleted. Closed ones are opened on the way.
 */
async function findSharedFolders(upper: string, lower: string): Promise<readonly BytePath[]> {
  const shared: BytePath[] = [];
  await walkFolders((path, names) =>
    withFolderHandle(upper, path, (above) => {
      if (withFolderHandle(lower, path, () => true) === true) shared.push(path);
      return names(above).filter((name) => {
        const isFolder = readKindAt(above, name) === "folder";
        if (isFolder) makeAccessible(above, name);
        return isFolder && mayEnter(path);
      });
    }),
  );
  return shared;
}

/** Of one folder: the deleted names, and upper entries that are whiteouts. */
type Difference = { readonly gone: readonly BytePath[]; readonly unseen: ReadonlySet<BytePath> };

async function readDifferences(
  input: CollectInput,
  overlayFolder: string,
  shared: readonly BytePath[],
): Promise<ReadonlyMap<BytePath, Difference>> {
  return withMergedView(input.programs, overlayFolder, (merged) => {
    const listNames = (root: string, path: BytePath): readonly BytePath[] => {
      const names = withFolderHandle(root, path, listNamesAt);
      if (names === null) throw new WorkspaceFailed("workspace_unusable", "What an agent wrote apart could not be read.");
      return names;
    };
    const difference = (path: BytePath): Difference => {
      const visible = new Set(listNames(merged, path));
      const isHidden = (name: BytePath): boolean => !visible.has(name);
      const above = listNames(join(overlayFolder, overlayNames.upper), path);
      return { gone: listNames(input.folder, path).filter(isHidden), unseen: new Set(above.filter(isHidden)) };
    };
    return new Map(shared.map((path) => [path, difference(path)]));
  });
}

async function mergeIntoFolder(
  { folder, failpoint }: CollectInput,
  overlayFolder: string,
  differences: ReadonlyMap<BytePath, Difference>,
): Promise<void> {
  const draft = join(overlayFolder, overlayNames.draft);
  const moveEntryAway = (below: FolderHandle, name: BytePath): void => {
    failpoint?.();
    moveAway(below, name, join(overlayFolder, overlayNames.gone));
  };
  const mergeEntry = (path: BytePath, name: BytePath, above: FolderHandle, below: FolderHandle): boolean => {
    const kind = readKindAt(above, name);
    const isFolder = kind === "folder" && mayEnter(path);
    const kindBelow = readKindAt(below, name);
    if (kindBelow !== "none" && (kindBelow === "folder") !== isFolder) moveEntryAway(below, name);
    failpoint?.();
    if (isFolder) makeFolder(below, name);
    else linkInto(kind === "folder" ? null : above, below, name, draft); // C2, C3
    return isFolder;
  };
  await walkFolders((path, names) =>
    withFolderHandle(join(overlayFolder, overlayNames.upper), path, (above) => {
      const { gone, unseen } = differences.get(path) ?? { gone: [], unseen: new Set<BytePath>() };
      const mergedFolders = withFolderHandle(folder, path, (below) => {
        for (const name of gone) moveEntryAway(below, name);
        const writtenNames = names(above).filter((name) => !unseen.has(name) && readKindAt(above, name) !== "whiteout");
        return writtenNames.filter((name) => mergeEntry(path, name, above, below));
      });
      if (mergedFolders === null) throw new WorkspaceFailed("workspace_unusable", "A folder to bring changes into is not there.");
      return mergedFolders;
    }),
  );
}

/** A deeper folder is not entered: a dangling link replaces it, which the judge refuses. */
const mayEnter = (path: BytePath): boolean => bytePathParts(path).length < depthMax;

/** Every folder of a tree, from the root; `visit` reads its names by `names`, which counts them, and says which to enter. */
async function walkFolders(
  visit: (path: BytePath, names: (held: FolderHandle) => BytePath[]) => readonly BytePath[] | null,
): Promise<void> {
  const folders: BytePath[] = ["" as BytePath];
  let entries = 0;
  let began = performance.now();
  const names = (held: FolderHandle): BytePath[] => {
    const folderNames = listNamesAt(held);
    entries += folderNames.length;
    if (entries > entriesMax) throw new WorkspaceFailed("workspace_unusable", `An agent wrote more than ${entriesMax} files.`);
    return folderNames;
  };
  for (let path = folders.pop(); path !== undefined; path = folders.pop()) {
    for (const name of visit(path, names) ?? []) folders.push(joinBytePath(path, name));
    if (performance.now() - began < sliceMs) continue;
    await setImmediate(); // A long walk must not keep a stop request waiting.
    began = performance.now();
  }
}

/** Mounts the overlay in a private namespace, for as long as `use` takes. */
async function withMergedView<T>(programs: MountPrograms, overlayFolder: string, use: (merged: string) => T): Promise<T> {
  const [program = "", ...args] = composeMountedShell(programs, overlayFolder, "echo ready && read -r _", []);
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], env: { LC_ALL: "C" } });
  let errorText = "";
  child.stderr.on("data", (bytes: Buffer) => (errorText = (errorText + bytes.toString("utf8")).slice(0, 300)));
  child.stdin.on("error", () => undefined);
  const exited = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("exit", () => resolve());
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), mountTimeoutMs);
  try {
    const isReady = await Promise.race([
      new Promise<true>((resolve) => child.stdout.once("data", () => resolve(true))),
      exited.then(() => false as const),
    ]);
    if (!isReady || child.pid === undefined)
      throw new WorkspaceFailed(
        "workspace_unusable",
        `What an agent wrote apart could not be mounted: ${errorText.trim() || "no reason was given"}`,
      );
    return withOverlay(join("/proc", String(child.pid), "root", overlayFolder, overlayNames.merged), overlayFolder, use);
  } finally {
    child.kill("SIGKILL");
    await exited;
    clearTimeout(timer);
  }
}

/** Holds the overlay open, so that it stays the overlay; anything else would look like a folder from which everything was deleted. C4 */
function withOverlay<T>(path: string, overlayFolder: string, use: (merged: string) => T): T {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    if (fstatSync(descriptor).dev === statSync(overlayFolder).dev)
      throw new WorkspaceFailed("workspace_unusable", "What an agent wrote apart could not be seen as one with its layer.");
    return use(`/proc/self/fd/${descriptor}/.`);
  } finally {
    closeSync(descriptor);
  }
}
