// store: creates, opens and deletes the entries that many runs share on this machine: bases,
// packages and histories. Each entry is a sealed folder: its files, a note about them (base.json)
// and a lease.
//
// Invariants:
//   T1. An entry is created under a temporary name and appears whole, by one rename; of two created
//       at once one stays.
//   T2. A user of an entry holds its lease; only unused entries are deleted for room, the least
//       recently used first.
//   T3. An entry is used only if its note says that it holds the requested content, if its files
//       are those it was created with, and if no other user owns it or may write to it. Anything
//       else at its path is deleted.
//   T4. Nothing is created, renamed or removed in an entry after it was placed, so that its
//       folder's ctime shows whether something else did so (sealed-folder.ts). A file that has to
//       change is overwritten in place.
//   T5. An entry in which something is mounted is neither used nor deleted: deleting would reach
//       what is mounted.

import { randomUUID } from "node:crypto";
import { existsSync, lstatSync, statSync } from "node:fs";
import { mkdir, readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readErrorCode, WorkspaceFailed } from "../failure.ts";
import { erase, moveToTrash, readJson, writeFileAtomically } from "../folder.ts";
import { type BaseLock, isRealFolder, lockExclusive, lockShared, placeDraft } from "./base-lock.ts";
import {
  findMountIn,
  readFolderId,
  type SealedFolder,
  readSealNs,
  takeSealNs,
} from "./sealed-folder.ts";
import { isPrivate, openStoreFolder, storeBytesMax, findStoreFolder } from "./store-folder.ts";

export type Store = {
  readonly folder: string;
  /** Above this size unused entries are deleted. */
  readonly bytesMax: number;
  /** How long a base need not be checked again. */
  readonly recheckMs: number;
  /** Called at named places, so that tests can interrupt there. */
  readonly failpoint?: (place: string) => void;
};
type Note = Readonly<Record<string, unknown>>;
/**
 * An entry's folder, the name of the folder of its files in it, and what identifies its content: a
 * tree, a commit, a hash.
 */
type StoreEntry = {
  readonly folder: string;
  readonly filesName: string;
  readonly contentKey: string;
};
export type LeasedEntry = SealedFolder & {
  readonly folder: string;
  readonly note: Note;
  readonly lease: BaseLock;
};

const folderNames = ["bases", "history", "drafts", "trash"] as const;
/**
 * Checking every file of a base takes time in proportion to its size, so it is not done each time.
 */
const recheckMsDefault = 600_000;
/** A draft this old that was never locked is abandoned. */
const draftMsMax = 3_600_000;

/** Opens the store in a folder that is private to the user, and creates it if missing. */
export function openStore(
  folder: string = findStoreFolder(),
  options: Partial<Omit<Store, "folder">> = {},
): Store {
  openStoreFolder(folder, folderNames);
  return { folder, bytesMax: storeBytesMax, recheckMs: recheckMsDefault, ...options };
}

/** The entry, leased; null if there is none. One that can't be used is deleted. T3 */
export async function leaseStoreEntry(
  store: Store,
  { folder, filesName, contentKey }: StoreEntry,
): Promise<LeasedEntry | null> {
  requireUnmounted(folder);
  if (isRealFolder(folder) && !isPrivate(folder)) return deleteStoreEntry(store, folder);
  const lease = await lockShared(join(folder, "lease")); // T2
  if (lease === null) return null;
  const note = await readJson(join(folder, "base.json"));
  const files = join(folder, filesName);
  const id = readFolderId(files);
  const sealedNs = readSealNs(note);
  const isComplete = isNote(note) && sealedNs !== null && id !== null;
  if (
    isComplete &&
    note["of"] === contentKey &&
    note["ino"] === readIno(files) &&
    isPrivate(files)
  ) {
    return { folder, files, sealedNs, id, note, lease };
  }

  lease.release();
  return deleteStoreEntry(store, folder);
}

/**
 * Deletes an entry that can't be used any more; the caller has released its lease. Returns null for
 * the callers' convenience.
 */
export async function deleteStoreEntry(store: Store, folder: string): Promise<null> {
  requireUnmounted(folder);
  try {
    const trashed = moveToTrash(folder, join(store.folder, "trash"));
    if (trashed !== null) await erase(trashed);
    return null;
  } catch (error) {
    const code = readErrorCode(error);
    if (code === null) throw error;
    throw new WorkspaceFailed(
      "workspace_unusable",
      `${folder} was changed by something else and must be made anew, but it could not be removed (${code}).`,
      `remove it (as another user if it is not yours), then autopilot resume`,
    );
  }
}

/** T5 */
function requireUnmounted(folder: string): void {
  const mount = findMountIn(folder);
  if (mount === null) return;
  throw new WorkspaceFailed(
    "workspace_unusable",
    `Something is mounted at ${mount}, inside files that agents and checks are shown.`,
    `umount ${mount}, then autopilot resume`,
  );
}

const isNote = (value: unknown): value is Note => typeof value === "object" && value !== null;
const readIno = (path: string): string => String(lstatSync(path, { bigint: true }).ino);

/**
 * Creates an entry: `fill` writes its files and returns what its note should say besides, with the
 * bytes it takes. If `fill` returns null, there is no entry, and false is returned. T1
 */
export async function createStoreEntry(
  store: Store,
  { folder, filesName, contentKey, kind }: StoreEntry & { readonly kind: string },
  fill: (files: string, draft: string) => Promise<(Note & { readonly bytes: number }) | null>,
): Promise<boolean> {
  const draft = join(store.folder, "drafts", randomUUID());
  const files = join(draft, filesName);

  try {
    store.failpoint?.(`${kind}_draft`);
    await mkdir(draft, { mode: 0o700 });
    await mkdir(files, { mode: 0o755 });
    const lease = await lockDraft(draft);

    try {
      const note = await fill(files, draft);
      if (note === null) return false;
      store.failpoint?.(`${kind}_note`);
      const sealNs = await takeSealNs(join(draft, "made"));
      const storedNote = { ...note, of: contentKey, ino: readIno(files), made: sealNs };
      await writeFileAtomically(join(draft, "base.json"), `${JSON.stringify(storedNote)}\n`);
      store.failpoint?.(`${kind}_rename`);
      await placeDraft(draft, folder, join(store.folder, "trash")); // T1
    } finally {
      lease?.release();
    }
  } finally {
    await erase(draft);
  }

  await evict(store);
  return true;
}

/** Locks a draft before its lease is visible, so that no other process deletes it meanwhile. */
async function lockDraft(draft: string): Promise<BaseLock | null> {
  await writeFile(join(draft, "lease.new"), "");
  const lease = await lockShared(join(draft, "lease.new"));
  await rename(join(draft, "lease.new"), join(draft, "lease"));

  return lease;
}

/**
 * Deletes drafts of dead processes, what is left in the trash, and unused entries, the least
 * recently used first, until the others fit. T2
 */
export async function evict(store: Store): Promise<void> {
  const trash = join(store.folder, "trash");
  for (const name of await readdir(join(store.folder, "drafts"))) {
    const draft = join(store.folder, "drafts", name);
    const stat = statSync(draft, { throwIfNoEntry: false });
    const isAbandoned =
      stat !== undefined &&
      !existsSync(join(draft, "lease")) &&
      Date.now() - stat.mtimeMs > draftMsMax;
    if (isAbandoned) await erase(draft);
    else await deleteUnused(store, draft);
  }

  for (const name of await readdir(trash)) {
    if (findMountIn(join(trash, name)) === null) await erase(join(trash, name));
  }

  const entries = (
    await Promise.all(
      (["bases", "history"] as const).map((kind) => readEntries(join(store.folder, kind))),
    )
  ).flat();
  let bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);

  for (const entry of entries.sort((a, b) => a.usedMs - b.usedMs)) {
    if (bytes <= store.bytesMax) return;
    if (await deleteUnused(store, entry.folder)) bytes -= entry.bytes;
  }
}

/** Deletes a folder of the store unless a process uses it; returns whether it did. */
async function deleteUnused(store: Store, folder: string): Promise<boolean> {
  if (findMountIn(folder) !== null) return false; // T5
  const lease = await lockExclusive(join(folder, "lease"));
  if (lease === null) return false;
  store.failpoint?.("base_evict");
  const trashed = moveToTrash(folder, join(store.folder, "trash"));
  lease.release();
  if (trashed !== null) await erase(trashed);

  return true;
}

/**
 * The entries in a folder of the store, with their size and last use; anything that isn't a folder
 * is deleted.
 */
async function readEntries(
  parent: string,
): Promise<{ readonly folder: string; readonly bytes: number; readonly usedMs: number }[]> {
  const entries = await Promise.all(
    (await readdir(parent)).map(async (name) => {
      const folder = join(parent, name);
      if (!isRealFolder(folder)) return erase(folder).then(() => []);
      const stored = (await readJson(join(folder, "base.json"))) as {
        readonly bytes?: unknown;
      } | null;

      const lease = statSync(join(folder, "lease"), { throwIfNoEntry: false });
      return lease === undefined
        ? []
        : [{ folder, bytes: Number(stored?.bytes) || 0, usedMs: lease.mtimeMs }];
    }),
  );
  return entries.flat();
}
