// store: what many runs share on this machine: bases, packages and histories, each a finished folder with a note beside its files. All
// kinds are made, opened and deleted here.
//
// Invariants:
//   T1. A folder is made under a temporary name and appears whole, by one rename; of two made at once one stays.
//   T2. A user of a folder holds its lease; only unused ones are deleted for room, the least recently used first.
//   T3. It is used as what its note says it holds and as nothing else, only with the files it was made with, and only if no other user
//       owns it or may write to it. Whatever else is there is deleted.
//   T4. Nothing is created, renamed or removed in it after it was placed, so its own change time tells whether something else did that,
//       even if it was undone (sealed-folder.ts, I3). What has to change is overwritten in place.
//   T5. One in which something is mounted is neither used nor deleted: deleting would reach what is mounted.

import { randomUUID } from "node:crypto";
import { existsSync, lstatSync, statSync } from "node:fs";
import { mkdir, readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readErrorCode, WorkspaceFailed } from "../failure.ts";
import { erase, moveToTrash, readJson, writeFileAtomically } from "../folder.ts";
import { type BaseLock, isRealFolder, lockExclusive, lockShared, placeDraft } from "./base-lock.ts";
import { findMountIn, folderId, type SealedFolder, readSealNs, takeSealNs } from "./sealed-folder.ts";
import { isPrivate, openStoreFolder, storeBytesMax, findStoreFolder } from "./store-folder.ts";

export type Store = {
  readonly folder: string;
  readonly bytesMax: number;
  readonly recheckMs: number;
  readonly failpoint?: (place: string) => void;
};
type Note = Readonly<Record<string, unknown>>;
/** What a finished folder is: `of` says what it holds, `part` is the folder of its files. */
type Wanted = { readonly folder: string; readonly part: string; readonly of: string };
export type LeasedEntry = SealedFolder & { readonly folder: string; readonly note: Note; readonly lease: BaseLock };

const kinds = ["bases", "history", "drafts", "trash"] as const;
/** Checking every file of a base takes time in proportion to its size. */
const recheckMsDefault = 600_000;
/** A draft this old that was never locked is abandoned. */
const draftMsMax = 3_600_000;

export function openStore(folder: string = findStoreFolder(), options: Partial<Omit<Store, "folder">> = {}): Store {
  openStoreFolder(folder, kinds);
  return { folder, bytesMax: storeBytesMax, recheckMs: recheckMsDefault, ...options };
}

/** The finished folder, leased; null if there is none, or was none that can be used. T3 */
export async function leaseStoreEntry(store: Store, { folder, part, of }: Wanted): Promise<LeasedEntry | null> {
  requireUnmounted(folder);
  if (isRealFolder(folder) && !isPrivate(folder)) return deleteStoreEntry(store, folder);
  const lease = await lockShared(join(folder, "lease")); // T2
  if (lease === null) return null;
  const note = await readJson(join(folder, "base.json"));
  const files = join(folder, part);
  const [id, sealedNs] = [folderId(files), readSealNs(note)];
  if (isNote(note) && sealedNs !== null && id !== null && note["of"] === of && note["ino"] === readIno(files) && isPrivate(files))
    return { folder, files, sealedNs, id, note, lease };
  lease.release();
  return deleteStoreEntry(store, folder);
}

/** Deletes what is no longer what it was made as; the caller has released its lease. */
export async function deleteStoreEntry(store: Store, folder: string): Promise<null> {
  requireUnmounted(folder);
  try {
    const grave = moveToTrash(folder, join(store.folder, "trash"));
    if (grave !== null) await erase(grave);
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
 * Makes a folder: `fill` writes its files and returns what else its note says, among it the bytes it takes; null if nothing is to be made,
 * and then false is returned. T1
 */
export async function createStoreEntry(
  store: Store,
  { folder, part, of, kind }: Wanted & { readonly kind: string },
  fill: (files: string, draft: string) => Promise<(Note & { readonly bytes: number }) | null>,
): Promise<boolean> {
  const draft = join(store.folder, "drafts", randomUUID());
  const files = join(draft, part);
  try {
    store.failpoint?.(`${kind}_draft`);
    await mkdir(draft, { mode: 0o700 });
    await mkdir(files, { mode: 0o755 });
    const lease = await lockDraft(draft);
    try {
      const note = await fill(files, draft);
      if (note === null) return false;
      store.failpoint?.(`${kind}_note`);
      const made = await takeSealNs(join(draft, "made"));
      await writeFileAtomically(join(draft, "base.json"), `${JSON.stringify({ ...note, of, ino: readIno(files), made })}\n`);
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

/** Deletes unused folders, the least recently used first, until the rest fits; and what dead makers left. T2 */
export async function evict(store: Store): Promise<void> {
  const trash = join(store.folder, "trash");
  for (const name of await readdir(join(store.folder, "drafts"))) {
    const draft = join(store.folder, "drafts", name);
    const stat = statSync(draft, { throwIfNoEntry: false });
    if (stat !== undefined && !existsSync(join(draft, "lease")) && Date.now() - stat.mtimeMs > draftMsMax) await erase(draft);
    else await deleteUnused(draft);
  }
  for (const name of await readdir(trash)) if (findMountIn(join(trash, name)) === null) await erase(join(trash, name));
  const entries = (await Promise.all((["bases", "history"] as const).map((kind) => readEntries(join(store.folder, kind))))).flat();
  let bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  for (const entry of entries.sort((a, b) => a.usedMs - b.usedMs)) {
    if (bytes <= store.bytesMax) return;
    if (await deleteUnused(entry.folder)) bytes -= entry.bytes;
  }

  async function deleteUnused(folder: string): Promise<boolean> {
    if (findMountIn(folder) !== null) return false; // T5
    const lease = await lockExclusive(join(folder, "lease"));
    if (lease === null) return false;
    store.failpoint?.("base_evict");
    const grave = moveToTrash(folder, trash);
    lease.release();
    if (grave !== null) await erase(grave);
    return true;
  }
}

async function readEntries(parent: string): Promise<{ readonly folder: string; readonly bytes: number; readonly usedMs: number }[]> {
  const entries = await Promise.all(
    (await readdir(parent)).map(async (name) => {
      const folder = join(parent, name);
      if (!isRealFolder(folder)) return erase(folder).then(() => []);
      const stored = (await readJson(join(folder, "base.json"))) as { readonly bytes?: unknown } | null;
      const lease = statSync(join(folder, "lease"), { throwIfNoEntry: false });
      return lease === undefined ? [] : [{ folder, bytes: Number(stored?.bytes) || 0, usedMs: lease.mtimeMs }];
    }),
  );
  return entries.flat();
}
