// base: a commit's tree as files on this machine, created once and shared read-only by runs, agents and checks, each through its own view.
//
// Invariants:
//   B1. It is made, leased and deleted as store.ts says (T1, T2), and known by its tree (T3).
//   B2. A base in which anything changed since it was made (sealed-folder.ts) is deleted and rebuilt: looked at once in ten minutes at most when it
//       is opened, and by content once after the machine started. Opening too early only wastes work: nothing lands and no check counts
//       without a look after it (checkouts.ts, W3).
//   B3. Its files are those of a fresh clone without filters: the tree's own attributes apply, and no configuration. So its name says all.

import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { rm, truncate, utimes, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import { readErrorCode, WorkspaceFailed } from "../failure.ts";
import { readSmallFile } from "../folder.ts";
import { git, type GitContext } from "../git/git.ts";
import type { ObjectFormat } from "../git/tree.ts";
import type { BaseLock } from "./base-lock.ts";
import { isIntact, type SealedFolder } from "./sealed-folder.ts";
import { createStoreEntry, deleteStoreEntry, leaseStoreEntry, type LeasedEntry, type Store } from "./store.ts";

export type Base = SealedFolder & {
  readonly tree: GitSha;
  readonly folder: string;
  readonly index: string;
  readonly lease: BaseLock;
};
/** The repository whose objects a base is made of. */
export type BaseSource = { readonly call: GitContext; readonly format: ObjectFormat; readonly tree: GitSha };

/** Older ones hold the bytes of the objects, without conversions. */
const baseVersion = 2;
const part = "tree";
const markBytesMax = 100;
/** Git trusts the times of files only if its index is younger than they are. */
const indexLeadMs = 3_000;
/** Mode, type, name and size of a file, before its path. */
const rowBytesMax = 120;
const missingBytesMax = 64 << 20;

export const readBootId = (): string => {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "unknown";
  }
};

const baseName = ({ format, tree }: Pick<BaseSource, "format" | "tree">): string => `${format}-${tree}`;
const baseFolder = (store: Store, source: Pick<BaseSource, "format" | "tree">): string => join(store.folder, "bases", baseName(source));
/** The tree whose base has its files here; null if they are no base's. */
export const parseBaseTree = (files: string): GitSha | null => /^sha(?:1|256)-([0-9a-f]+)$/.exec(basename(dirname(files)))?.[1] ?? null;
export const hasBase = (store: Store, source: Pick<BaseSource, "format" | "tree">): boolean =>
  existsSync(join(baseFolder(store, source), "base.json"));

/** The base of a tree, created if it is missing or damaged. The caller releases the lease. */
export async function openBase(store: Store, source: BaseSource): Promise<Base> {
  const folder = baseFolder(store, source);
  for (let tries = 0; tries < 5; tries += 1) {
    const leased = await leaseStoreEntry(store, { folder, part, of: source.tree });
    if (leased !== null) {
      const base = { ...leased, tree: source.tree, index: join(folder, "index") };
      if (await isSound(store, source, base)) return base;
      leased.lease.release();
      await deleteStoreEntry(store, folder); // B2
    }
    await createBase(store, source);
  }
  throw new WorkspaceFailed("workspace_unusable", `The files of ${source.tree.slice(0, 12)} are damaged again as soon as they are made.`);
}

/** Makes the next opening look at every file. */
export async function distrustBase(folder: string): Promise<void> {
  await truncate(checkMarkPath(folder)).catch((error: unknown) => {
    if (readErrorCode(error) === null) throw error; // it is gone, or can't be opened either
  });
}

/** B2 */
async function isSound(store: Store, source: BaseSource, base: Base & Pick<LeasedEntry, "note">): Promise<boolean> {
  const mark = checkMarkPath(base.folder);
  const checkedAtMs = statSync(mark, { throwIfNoEntry: false })?.mtimeMs;
  if (base.note["version"] !== baseVersion || checkedAtMs === undefined || !existsSync(base.index)) return false;
  const isSameBoot = readSmallFile(mark, markBytesMax)?.toString("utf8") === readBootId();
  if (isSameBoot && Math.abs(Date.now() - checkedAtMs) < store.recheckMs) return true;
  if (!isSameBoot && !(await matchesContent(store, source, base))) return false;
  if (!(await isIntact(base))) return false;
  await writeFile(mark, readBootId()); // in place, as store.ts wants it
  return true;
}

/** Says since which start of the machine the content is known, and by its time when every file was last checked. */
const checkMarkPath = (folder: string): string => join(folder, "looked");

const callInBase = (source: BaseSource, files: string, index: string): GitContext => ({
  ...source.call,
  cwd: files,
  env: { ...source.call.env, GIT_WORK_TREE: files, GIT_INDEX_FILE: index },
});

/** Whether the disk holds the files of the index and no others. Throws what git says if it can't tell. */
async function matchesIndex(source: BaseSource, { files, index }: Pick<Base, "files" | "index">): Promise<boolean> {
  const call = callInBase(source, files, index);
  const [changed, extra] = await Promise.all([
    git({ ...call, args: ["-c", "core.preloadIndex=true", "diff-files", "--quiet"], codes: [0, 1] }),
    git({ ...call, args: ["ls-files", "--others", "-z"], outputBytesMax: 4096 }),
  ]);
  return changed.code === 0 && extra.out.length === 0;
}

async function matchesContent(store: Store, source: BaseSource, base: Base): Promise<boolean> {
  const draft = join(store.folder, "drafts", randomUUID());
  try {
    const call = callInBase(source, base.files, draft);
    await git({ ...call, args: ["read-tree", source.tree] });
    await git({ ...call, args: ["update-index", "-q", "--refresh"], codes: [0, 1, 128] }); // reads every file, and says nothing
    return await matchesIndex(source, { files: base.files, index: draft });
  } catch (error) {
    if (error instanceof WorkspaceFailed && error.reason === "workspace_unusable") return false; // what git can't look at is damaged
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

const dateAhead = (index: string): Promise<void> => utimes(index, new Date(Date.now() + indexLeadMs), new Date(Date.now() + indexLeadMs));

const createBase = (store: Store, source: BaseSource): Promise<boolean> =>
  createStoreEntry(store, { folder: baseFolder(store, source), part, of: source.tree, kind: "base" }, async (files, draft) => {
    const index = join(draft, "index");
    const call = callInBase(source, files, index);
    store.failpoint?.("base_read");
    await git({ ...call, args: ["read-tree", source.tree] });
    store.failpoint?.("base_files");
    await git({ ...call, args: ["-c", "checkout.workers=0", "checkout-index", "-q", "-f", "-u", "-a"] }).catch(async (error: unknown) => {
      throw await explainMissingObjects(source.call, source.tree, error);
    });
    await dateAhead(index);
    if (!(await matchesIndex(source, { files, index })))
      throw new WorkspaceFailed(
        "workspace_unusable",
        "This disk can't hold all files of the commit: some names are the same to it, because they differ in case or spelling only.",
      );
    await writeFile(checkMarkPath(draft), readBootId());
    return { version: baseVersion, bytes: await readTreeBytes(call, source.tree) };
  });

/**
 * Why objects could not be read: they are missing, as in a damaged repository or a partial clone, or git's message. The wording of the first varies, so git is
 * asked which are missing.
 */
export async function explainMissingObjects(call: GitContext, treeish: GitSha, error: unknown): Promise<unknown> {
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

/** How much space the files of a tree take. */
async function readTreeBytes(call: GitContext, tree: GitSha): Promise<number> {
  const { out } = await git({ ...call, args: ["ls-tree", "-r", "-l", "-z", "--full-tree", tree] });
  let bytes = 0;
  for (let index = 0; index < out.length;) {
    const end = out.indexOf(0, index);
    bytes += Number(out.toString("latin1", index, Math.min(end, index + rowBytesMax)).split(/ +|\t/)[3]) || 0;
    index = end + 1;
  }
  return bytes;
}
