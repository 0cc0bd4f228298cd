// overlay-collect: merges what a command wrote into an overlay into its folder.
//
// What was written is in the overlay's upper folder. What was deleted the kernel knows: the overlay
// is mounted again in a private namespace, and what the folder has and the overlay has not is
// deleted. The on-disk format of whiteouts need not be known for that.
//
// Invariants:
//   C1. No link is followed on either side: every folder is opened by its name inside the one
//       before it (overlay-fd.ts).
//   C2. If it is killed at any moment, the next collect ends with the same folder: written files
//       are hard-linked into the folder, and stay in the overlay until everything is merged.
//   C3. Files are merged as what they are: links, pipes and hard links too, so that the judge
//       (layers/judge-layer.ts) sees them.
//   C4. Only the overlay itself decides what is deleted.

import { chmodSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { joinBytePath, splitBytePath, type BytePath } from "../git/byte-path.ts";
import { readErrorCode, WorkspaceFailed } from "../failure.ts";
import { explainDiskFull } from "../explain-disk-full.ts";
import { discard } from "../folder.ts";
import { holdMountScript, type MergedView, withMergedView } from "../checkouts/merged-view.ts";
import {
  readKindAt,
  makeAccessible,
  linkInto,
  listNamesAt,
  makeFolder,
  moveAway,
  withFolderHandle,
  type FolderHandle,
} from "./overlay-fd.ts";
import {
  overlayNames,
  findOverlayFolder,
  overlayPrefix,
  overlaysFolder,
  createOverlayFolders,
} from "./overlay-folders.ts";
import { composeMountedShell, type MountPrograms } from "./overlay-mount.ts";

export type CollectInput = {
  readonly runDir: string;
  readonly folder: string;
  readonly programs: MountPrograms;
  /** For fault tests: called before every change of the folder. */
  readonly failpoint?: () => void;
};

const entriesMax = 2_000_000;
const depthMax = 128;
/** After this time the walk lets others have the event loop. */
const sliceMs = 25;

/**
 * Merges what was written for a folder into it, and deletes the overlay. Does nothing if there is
 * none.
 */
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
    const fullDisk = explainDiskFull(code, [folder]);
    const problem = `What an agent wrote could not be brought into its layer (${code}).`;
    throw fullDisk === null
      ? new WorkspaceFailed("workspace_unusable", problem)
      : new WorkspaceFailed("disk_full", `${fullDisk} ${problem}`);
  }

  await discard(overlay, trash); // C2
}

async function collectFrom(input: CollectInput, overlayFolder: string): Promise<void> {
  const upper = join(overlayFolder, overlayNames.upper);
  chmodSync(upper, 0o755); // the command may have closed its own folder
  if (readdirSync(upper).length === 0) return;
  createOverlayFolders(overlayFolder, input.folder);
  mkdirSync(join(overlayFolder, overlayNames.removed), { recursive: true });
  const shared = await findSharedFolders(upper, input.folder);
  await mergeIntoFolder(input, overlayFolder, await readDifferences(input, overlayFolder, shared));
}

/** Deletes overlays of earlier folders of the same name. */
async function discardOutdated(
  runDir: string,
  folder: string,
  current: string | null,
  trash: string,
): Promise<void> {
  const root = overlaysFolder(runDir);
  const names = await readdir(root).catch(() => []);
  for (const name of names) {
    if (name.startsWith(overlayPrefix(folder)) && join(root, name) !== current) {
      await discard(join(root, name), trash);
    }
  }
}

/**
 * The folders that are both in the upper and the lower layer: only in these can something be
 * deleted. Folders whose mode keeps their owner out are made accessible on the way.
 */
async function findSharedFolders(upper: string, lower: string): Promise<readonly BytePath[]> {
  const shared: BytePath[] = [];
  await walkFolders((path, listNames) =>
    withFolderHandle(upper, path, (upperFolder) => {
      if (withFolderHandle(lower, path, () => true) === true) shared.push(path);
      return listNames(upperFolder).filter((name) => {
        const isFolder = readKindAt(upperFolder, name) === "folder";
        if (isFolder) makeAccessible(upperFolder, name);
        return isFolder && mayEnter(path);
      });
    }),
  );

  return shared;
}

/**
 * Names in one folder: those that were deleted from the lower layer, and those of the upper one
 * that only mark a deletion.
 */
type Difference = {
  readonly deleted: readonly BytePath[];
  readonly whiteouts: ReadonlySet<BytePath>;
};

async function readDifferences(
  input: CollectInput,
  overlayFolder: string,
  shared: readonly BytePath[],
): Promise<ReadonlyMap<BytePath, Difference>> {
  const upper = join(overlayFolder, overlayNames.upper);
  return withMergedView(describeMergedView(input, overlayFolder), (merged) => {
    const readDifference = (path: BytePath): Difference => {
      const visible = new Set(requireNames(merged, path));
      const isHidden = (name: BytePath): boolean => !visible.has(name);
      return {
        deleted: requireNames(input.folder, path).filter(isHidden),
        whiteouts: new Set(requireNames(upper, path).filter(isHidden)),
      };
    };
    return new Map(shared.map((path) => [path, readDifference(path)]));
  });
}

function requireNames(root: string, path: BytePath): readonly BytePath[] {
  const names = withFolderHandle(root, path, listNamesAt);
  if (names === null) {
    throw new WorkspaceFailed("workspace_unusable", "What an agent wrote apart could not be read.");
  }

  return names;
}

/** C4: if something else than the overlay were read, everything would seem to be deleted. */
const describeMergedView = ({ programs }: CollectInput, overlayFolder: string): MergedView => ({
  overlayFolder: overlayFolder,
  merged: join(overlayFolder, overlayNames.merged),
  mountCommand: composeMountedShell(programs, overlayFolder, holdMountScript, []),
  messages: {
    notMounted: "What an agent wrote apart could not be mounted",
    notMerged: "What an agent wrote apart could not be seen as one with its layer.",
  },
});

/** Merges the upper folder into the agent's, folder by folder. */
async function mergeIntoFolder(
  { folder, failpoint }: CollectInput,
  overlayFolder: string,
  differences: ReadonlyMap<BytePath, Difference>,
): Promise<void> {
  const temporary = join(overlayFolder, overlayNames.replacement);
  const moveEntryAway = (lower: FolderHandle, name: BytePath): void => {
    failpoint?.();
    moveAway(lower, name, join(overlayFolder, overlayNames.removed));
  };

  /**
   * Merges one entry of an upper folder into its lower one; returns whether it is a folder to
   * descend into.
   */
  const mergeEntry = (
    path: BytePath,
    name: BytePath,
    upper: FolderHandle,
    lower: FolderHandle,
  ): boolean => {
    const kind = readKindAt(upper, name);
    const isFolder = kind === "folder" && mayEnter(path);
    const lowerKind = readKindAt(lower, name);
    if (lowerKind !== "none" && (lowerKind === "folder") !== isFolder) moveEntryAway(lower, name);
    failpoint?.();
    if (isFolder) makeFolder(lower, name);
    else linkInto(kind === "folder" ? null : upper, lower, name, temporary); // C2, C3

    return isFolder;
  };

  await walkFolders((path, listNames) =>
    withFolderHandle(join(overlayFolder, overlayNames.upper), path, (upper) => {
      const { deleted, whiteouts } = differences.get(path) ?? {
        deleted: [],
        whiteouts: new Set<BytePath>(),
      };

      const mergedFolders = withFolderHandle(folder, path, (lower) => {
        for (const name of deleted) moveEntryAway(lower, name);
        const writtenNames = listNames(upper).filter(
          (name) => !whiteouts.has(name) && readKindAt(upper, name) !== "whiteout",
        );
        return writtenNames.filter((name) => mergeEntry(path, name, upper, lower));
      });
      if (mergedFolders === null) {
        throw new WorkspaceFailed(
          "workspace_unusable",
          "A folder to bring changes into is not there.",
        );
      }

      return mergedFolders;
    }),
  );
}

/** A deeper folder is not entered: a dangling link replaces it, which the judge refuses. */
const mayEnter = (path: BytePath): boolean => splitBytePath(path).length < depthMax;

/**
 * Visits every folder of a tree, from the root. `visit` lists names with `listNames`, which counts
 * them, and returns those to enter.
 */
async function walkFolders(
  visit: (
    path: BytePath,
    listNames: (folder: FolderHandle) => BytePath[],
  ) => readonly BytePath[] | null,
): Promise<void> {
  const folders: BytePath[] = ["" as BytePath];
  let entryCount = 0;
  let sliceBeganMs = performance.now();

  const listNames = (folder: FolderHandle): BytePath[] => {
    const names = listNamesAt(folder);
    entryCount += names.length;

    if (entryCount > entriesMax) {
      throw new WorkspaceFailed(
        "workspace_unusable",
        `An agent wrote more than ${entriesMax} files.`,
      );
    }

    return names;
  };

  for (let path = folders.pop(); path !== undefined; path = folders.pop()) {
    for (const name of visit(path, listNames) ?? []) folders.push(joinBytePath(path, name));
    if (performance.now() - sliceBeganMs < sliceMs) continue;
    await setImmediate(); // a long walk must not keep a stop request waiting
    sliceBeganMs = performance.now();
  }
}
