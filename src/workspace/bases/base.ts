// base: a commit's tree as files on this machine, created once and shared read-only by runs, agents and checks, each through its own view.
//
// Invariants:
//   B1. A base is built under a temporary name and appears whole, by one rename; of two built at once one stays.
//   B2. A user of a base holds its lease; only unused bases are deleted, the least recently used first.
//   B3. A base in which anything changed since it was made (intact.ts) is deleted and rebuilt: looked at once in ten minutes at most when it
//       is opened, and by content once after the machine started. Opening too early only wastes work: nothing lands and no check counts
//       without a look after it (checkouts.ts, W3).
//   B4. Its files are those of a fresh clone without filters: the tree's own attributes apply, and no configuration. So its name says all.

import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { mkdir, readdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import { WorkspaceFailed } from "../failure.ts";
import { moveToTrash, erase, readJson, writeWhole } from "../folder.ts";
import { git, type GitCall } from "../git/git.ts";
import type { ObjectFormat } from "../git/tree.ts";
import { isRealFolder, lockExclusive, type BaseLock, lockShared, placeDraft } from "./base-lock.ts";
import { isIntact, type MadeFolder, readMadeNs, sealTime } from "./intact.ts";
import { openStoreFolder, storeBytesMax, storeFolder } from "./store-folder.ts";

export type Store = {
  readonly folder: string;
  readonly bytesMax: number;
  readonly recheckMs: number;
  readonly failpoint?: (place: string) => void;
};
export type Base = MadeFolder & {
  readonly tree: GitSha;
  readonly folder: string;
  readonly index: string;
  readonly lease: BaseLock;
};
/** The repository whose objects a base is made of. */
export type BaseSource = { readonly call: Omit<GitCall, "args">; readonly format: ObjectFormat; readonly tree: GitSha };

/** Older ones hold the bytes of the objects, without conversions. */
const baseVersion = 2;
const kinds = ["bases", "history", "drafts", "trash"] as const;
/** Checking every file of a base takes time in proportion to its size. */
const recheckMsDefault = 600_000;
/** Git trusts the times of files only if its index is younger than they are. */
const indexLeadMs = 3_000;
/** Mode, type, name and size of a file, before its path. */
const rowBytesMax = 120;
const missingBytesMax = 64 << 20;
/** A draft this old that was never locked is abandoned. */
const draftMsMax = 3_600_000;

export function openStore(folder: string = storeFolder(), options: Partial<Omit<Store, "folder">> = {}): Store {
  openStoreFolder(folder, kinds);
  return { folder, bytesMax: storeBytesMax, recheckMs: recheckMsDefault, ...options };
}

export const bootId = (): string => {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "unknown";
  }
};

const baseName = ({ format, tree }: Pick<BaseSource, "format" | "tree">): string => `${format}-${tree}`;
const baseFolder = (store: Store, source: Pick<BaseSource, "format" | "tree">): string => join(store.folder, "bases", baseName(source));
export const hasBase = (store: Store, source: Pick<BaseSource, "format" | "tree">): boolean =>
  existsSync(join(baseFolder(store, source), "base.json"));

/** The base of a tree, created if it is missing or damaged. The caller releases the lease. */
export async function openBase(store: Store, source: BaseSource): Promise<Base> {
  for (let tries = 0; tries < 5; tries += 1) {
    const base = await leaseBase(store, source);
    if (base !== null && (await isSound(store, source, base))) return base;
    if (base !== null) await deleteBase(store, base); // B3
    await createBase(store, source);
  }
  throw new WorkspaceFailed("workspace_unusable", `The files of ${source.tree.slice(0, 12)} are damaged again as soon as they are made.`);
}

async function leaseBase(store: Store, source: BaseSource): Promise<Base | null> {
  const folder = baseFolder(store, source);
  const lease = await lockShared(join(folder, "lease")); // B2
  if (lease === null) return null;
  const madeNs = readMadeNs(await readJson(join(folder, "base.json"))) ?? "0"; // an unreadable note makes everything look changed
  return { tree: source.tree, folder, files: join(folder, "tree"), index: join(folder, "index"), madeNs, lease };
}

/** Makes the next opening look at every file. */
export const distrustBase = (folder: string): Promise<void> => rm(checkMarkPath(folder), { force: true });

/** B3 */
async function isSound({ recheckMs: lookAgainMs }: Store, source: BaseSource, base: Base): Promise<boolean> {
  const stored = (await readJson(join(base.folder, "base.json"))) as { readonly boot?: unknown; readonly version?: unknown } | null;
  if (stored?.version !== baseVersion || base.madeNs === "0" || !existsSync(base.index)) return false;
  const isSameBoot = stored.boot === bootId();
  const checkedAtMs = statSync(checkMarkPath(base.folder), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (isSameBoot && Math.abs(Date.now() - checkedAtMs) < lookAgainMs) return true;
  if (!isSameBoot && !(await matchesContent(source, base))) return false;
  if (!(await isIntact(base))) return false;
  await writeFile(checkMarkPath(base.folder), "");
  return isSameBoot || recordBoot(base, stored);
}

/** When every file was last checked. */
const checkMarkPath = (folder: string): string => join(folder, "looked");

const callInBase = (source: BaseSource, files: string, index: string): Omit<GitCall, "args"> => ({
  ...source.call,
  cwd: files,
  env: { ...source.call.env, GIT_WORK_TREE: files, GIT_INDEX_FILE: index },
});

/** Whether the disk holds the files of the index and no others, just after they were written. */
async function matchesIndex(source: BaseSource, { files, index }: Pick<Base, "files" | "index">): Promise<boolean> {
  const call = callInBase(source, files, index);
  const [changed, extra] = await Promise.all([
    git({ ...call, args: ["-c", "core.preloadIndex=true", "diff-files", "--quiet"], codes: [0, 1, 128] }),
    git({ ...call, args: ["ls-files", "--others", "-z"], codes: [0, 128], outputBytesMax: 4096 }),
  ]);
  return changed.code === 0 && extra.code === 0 && extra.out.length === 0;
}

async function matchesContent(source: BaseSource, base: Base): Promise<boolean> {
  const draft = join(base.folder, `index.${randomUUID()}`);
  try {
    const call = callInBase(source, base.files, draft);
    await git({ ...call, args: ["read-tree", source.tree] });
    const { code } = await git({ ...call, args: ["update-index", "-q", "--refresh"], codes: [0, 1, 128] });
    if (code !== 0) return false;
    await dateAhead(draft);
    await rename(draft, base.index);
    return true;
  } finally {
    await rm(draft, { force: true });
  }
}

async function recordBoot(base: Base, stored: object): Promise<true> {
  await writeWhole(join(base.folder, "base.json"), `${JSON.stringify({ ...stored, boot: bootId() })}\n`);
  return true;
}

const dateAhead = (index: string): Promise<void> => utimes(index, new Date(Date.now() + indexLeadMs), new Date(Date.now() + indexLeadMs));

/** B1 */
async function createBase(store: Store, source: BaseSource): Promise<void> {
  const draft = join(store.folder, "drafts", randomUUID());
  const files = join(draft, "tree");
  const index = join(draft, "index");
  const failpoint = store.failpoint ?? ((): void => undefined);
  try {
    failpoint("base_draft");
    await mkdir(files, { recursive: true });
    const lease = await lockDraft(draft);
    try {
      const call = callInBase(source, files, index);
      failpoint("base_read");
      await git({ ...call, args: ["read-tree", source.tree] });
      failpoint("base_files");
      await git({ ...call, args: ["-c", "checkout.workers=0", "checkout-index", "-q", "-f", "-u", "-a"] }).catch(async (error: unknown) => {
        throw await explainMissingObjects(source.call, source.tree, error);
      });
      await dateAhead(index);
      if (!(await matchesIndex(source, { files, index })))
        throw new WorkspaceFailed(
          "workspace_unusable",
          "This disk can't hold all files of the commit: some names are the same to it, because they differ in case or spelling only.",
        );
      const bytes = await readTreeBytes(call, source.tree);
      failpoint("base_note");
      const made = await sealTime(checkMarkPath(draft));
      await writeWhole(
        join(draft, "base.json"),
        `${JSON.stringify({ version: baseVersion, tree: source.tree, bytes, boot: bootId(), made })}\n`,
      );
      failpoint("base_rename");
      await placeDraft(draft, baseFolder(store, source), join(store.folder, "trash")); // B1
    } finally {
      lease?.release();
    }
  } finally {
    await erase(draft);
  }
  await evict(store);
}

/**
 * Why objects could not be read: they are missing, as in a damaged repository or a partial clone, or git's message. The wording of the first varies, so git is
 * asked which are missing.
 */
export async function explainMissingObjects(call: Omit<GitCall, "args">, treeish: GitSha, error: unknown): Promise<unknown> {
  const args = ["rev-list", "--objects", "--missing=print", "--no-object-names", "--no-walk", treeish];
  const { out } = await git({ ...call, args, codes: [0, 128], outputBytesMax: missingBytesMax });
  const missing = out.toString("latin1").match(/^\?.*/gm) ?? [];
  const [first] = missing;
  if (first === undefined) return error;
  // No command is advised: those that fetch obey the repository's configuration, which may name programs.
  return new WorkspaceFailed(
    "workspace_unusable",
    `${missing.length === 1 ? "An object" : `${missing.length} objects`} of the commit ${missing.length === 1 ? "is" : "are"} missing from this repository (${first.slice(1, 13)}). Nothing is fetched unasked.`,
    "clone the repository anew, in full (a partial clone lacks files until they are fetched), then try again",
  );
}

/** Locks a draft before its lease is visible, so that no other process deletes it meanwhile. */
export async function lockDraft(draft: string): Promise<BaseLock | null> {
  await writeFile(join(draft, "lease.new"), "");
  const lease = await lockShared(join(draft, "lease.new"));
  await rename(join(draft, "lease.new"), join(draft, "lease"));
  return lease;
}

/** How much space the files of a tree take. */
async function readTreeBytes(call: Omit<GitCall, "args">, tree: GitSha): Promise<number> {
  const { out } = await git({ ...call, args: ["ls-tree", "-r", "-l", "-z", "--full-tree", tree] });
  let bytes = 0;
  for (let index = 0; index < out.length;) {
    const end = out.indexOf(0, index);
    bytes += Number(out.toString("latin1", index, Math.min(end, index + rowBytesMax)).split(/ +|\t/)[3]) || 0;
    index = end + 1;
  }
  return bytes;
}

async function deleteBase(store: Store, base: Base): Promise<void> {
  base.lease.release();
  const grave = moveToTrash(base.folder, join(store.folder, "trash"));
  if (grave !== null) await erase(grave);
}

/** Deletes unused bases, the least recently used first, until the rest fits; and what dead makers left. B2 */
export async function evict(store: Store): Promise<void> {
  const trash = join(store.folder, "trash");
  for (const name of await readdir(join(store.folder, "drafts"))) {
    const draft = join(store.folder, "drafts", name);
    const stat = statSync(draft, { throwIfNoEntry: false });
    if (stat !== undefined && !existsSync(join(draft, "lease")) && Date.now() - stat.mtimeMs > draftMsMax) await erase(draft);
    else await deleteUnused(draft);
  }
  for (const name of await readdir(trash)) await erase(join(trash, name));
  const entries = (await Promise.all((["bases", "history"] as const).map((kind) => readEntries(join(store.folder, kind))))).flat();
  let bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  for (const entry of entries.sort((a, b) => a.usedMs - b.usedMs)) {
    if (bytes <= store.bytesMax) return;
    if (await deleteUnused(entry.folder)) bytes -= entry.bytes;
  }

  async function deleteUnused(folder: string): Promise<boolean> {
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
