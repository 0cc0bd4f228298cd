// base: a commit's tree as files on this machine, created once and shared read-only by runs, agents
// and checks, each through its own view. It is an entry of the store (store.ts), identified by its
// tree.
//
// Invariants:
//   B1. A base in which anything changed since it was sealed (sealed-folder.ts) is deleted and
//       rebuilt. Opening it checks that at most once in ten minutes, and compares its content once
//       after the machine started. Using a damaged base only wastes work: nothing lands and no
//       check counts until it was checked once more (`requireIntact` in checkouts.ts).
//   B2. Its files are those of a fresh clone without filters: the tree's own attributes apply, and
//       no configuration. So the tree's hash determines every byte.

import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { rm, truncate, utimes, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import { readErrorCode, WorkspaceFailed } from "../failure.ts";
import { readSmallFile } from "../folder.ts";
import { git } from "../git/git.ts";
import type { GitContext } from "../git/safe-git-call.ts";
import type { ObjectFormat } from "../git/tree.ts";
import type { BaseLock } from "./base-lock.ts";
import { isIntact, type SealedFolder } from "./sealed-folder.ts";
import {
  createStoreEntry,
  deleteStoreEntry,
  leaseStoreEntry,
  type LeasedEntry,
  type Store,
} from "./store.ts";

export type Base = SealedFolder & {
  readonly tree: GitSha;
  readonly folder: string;
  readonly index: string;
  readonly lease: BaseLock;
};
/** The tree a base is made of, and the repository that has its objects. */
export type BaseSource = {
  readonly call: GitContext;
  readonly format: ObjectFormat;
  readonly tree: GitSha;
};

/** Version 1 had the bytes of the objects, without conversions of line endings and encodings. */
const baseVersion = 2;
/** The folder of a base's files. */
const filesName = "tree";
const checkMarkBytesMax = 100;
const openTriesMax = 5;
/**
 * Git trusts the times of files only if its index is younger than they are, so the index is dated
 * this far ahead.
 */
const indexLeadMs = 3_000;
/** Mode, type, hash and size of a file in git's listing, before its path. */
const rowBytesMax = 120;
const missingBytesMax = 64 << 20;
/** One path is enough to know that there are others. */
const extraPathsBytesMax = 4_096;

const readBootId = (): string => {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "unknown";
  }
};

const baseName = ({ format, tree }: Pick<BaseSource, "format" | "tree">): string =>
  `${format}-${tree}`;
const baseFolder = (store: Store, source: Pick<BaseSource, "format" | "tree">): string =>
  join(store.folder, "bases", baseName(source));
/**
 * The tree whose base has its files at this path (`…/sha1-<tree>/tree`); null if it isn't a base's
 * path.
 */
export const parseBaseTree = (files: string): GitSha | null =>
  /^sha(?:1|256)-([0-9a-f]+)$/.exec(basename(dirname(files)))?.[1] ?? null;
/** Whether a base seems to exist; opening it checks it. */
export const hasBase = (store: Store, source: Pick<BaseSource, "format" | "tree">): boolean =>
  existsSync(join(baseFolder(store, source), "base.json"));

/** The base of a tree, created if it is missing or damaged. The caller releases the lease. */
export async function openBase(store: Store, source: BaseSource): Promise<Base> {
  const folder = baseFolder(store, source);
  for (let tries = 0; tries < openTriesMax; tries += 1) {
    const leased = await leaseStoreEntry(store, { folder, filesName, contentKey: source.tree });
    if (leased !== null) {
      const base = { ...leased, tree: source.tree, index: join(folder, "index") };
      if (await isSound(store, source, base)) return base;
      leased.lease.release();
      await deleteStoreEntry(store, folder); // B1
    }

    await createBase(store, source);
  }

  throw new WorkspaceFailed(
    "workspace_unusable",
    `The files of ${source.tree.slice(0, 12)} are damaged again as soon as they are made.`,
  );
}

/** Makes the next opening check every file. */
export async function distrustBase(folder: string): Promise<void> {
  await truncate(checkMarkPath(folder)).catch((error: unknown) => {
    if (readErrorCode(error) === null) throw error; // any other error means that the base is gone or can't be opened, so nobody trusts it
  });
}

/** Whether the base is complete and unchanged (B1). */
async function isSound(
  store: Store,
  source: BaseSource,
  base: Base & Pick<LeasedEntry, "note">,
): Promise<boolean> {
  const checkMark = checkMarkPath(base.folder);
  const checkedAtMs = statSync(checkMark, { throwIfNoEntry: false })?.mtimeMs;
  if (
    base.note["version"] !== baseVersion ||
    checkedAtMs === undefined ||
    !existsSync(base.index)
  ) {
    return false;
  }

  const isSameBoot = readSmallFile(checkMark, checkMarkBytesMax)?.toString("utf8") === readBootId();
  if (isSameBoot && Math.abs(Date.now() - checkedAtMs) < store.recheckMs) return true; // a time in the future is of a clock that was set back
  if (!isSameBoot && !(await matchesContent(store, source, base))) return false;
  if (!(await isIntact(base))) return false;
  await writeFile(checkMark, readBootId()); // in place: a rename would change the folder, which is sealed

  return true;
}

/**
 * A file with the id of the boot since which the content is known to be right; its mtime says when
 * every file was last checked.
 */
const checkMarkPath = (folder: string): string => join(folder, "looked");

const createBaseCall = (source: BaseSource, files: string, index: string): GitContext => ({
  ...source.call,
  cwd: files,
  env: { ...source.call.env, GIT_WORK_TREE: files, GIT_INDEX_FILE: index },
});

/**
 * Whether the disk holds the files of the index and no others. Throws what git says if it can't
 * tell.
 */
async function matchesIndex(
  source: BaseSource,
  { files, index }: Pick<Base, "files" | "index">,
): Promise<boolean> {
  const call = createBaseCall(source, files, index);
  const [changed, extra] = await Promise.all([
    git({
      ...call,
      args: ["-c", "core.preloadIndex=true", "diff-files", "--quiet"],
      acceptedExitCodes: [0, 1],
    }),
    git({ ...call, args: ["ls-files", "--others", "-z"], outputBytesMax: extraPathsBytesMax }),
  ]);
  return changed.code === 0 && extra.out.length === 0;
}

/**
 * Whether every file has the content of the tree: git reads them all, with an index that has no
 * stat data.
 */
async function matchesContent(store: Store, source: BaseSource, base: Base): Promise<boolean> {
  const temporaryIndex = join(store.folder, "drafts", randomUUID());
  try {
    const call = createBaseCall(source, base.files, temporaryIndex);
    await git({ ...call, args: ["read-tree", source.tree] });
    await git({
      ...call,
      args: ["update-index", "-q", "--refresh"],
      acceptedExitCodes: [0, 1, 128],
    }); // reads every file; the next call tells the result

    return await matchesIndex(source, { files: base.files, index: temporaryIndex });
  } catch (error) {
    if (error instanceof WorkspaceFailed && error.reason === "workspace_unusable") return false; // files that git can't read are damaged
    throw error;
  } finally {
    await rm(temporaryIndex, { force: true });
  }
}

const dateIndexAhead = (index: string): Promise<void> =>
  utimes(index, new Date(Date.now() + indexLeadMs), new Date(Date.now() + indexLeadMs));

/** Creates the base in the store. The number of workers 0 means as many as there are cores. */
const createBase = (store: Store, source: BaseSource): Promise<boolean> =>
  createStoreEntry(
    store,
    { folder: baseFolder(store, source), filesName, contentKey: source.tree, kind: "base" },
    async (files, draft) => {
      const index = join(draft, "index");
      const call = createBaseCall(source, files, index);
      store.failpoint?.("base_read");
      await git({ ...call, args: ["read-tree", source.tree] });
      store.failpoint?.("base_files");
      await git({
        ...call,
        args: ["-c", "checkout.workers=0", "checkout-index", "-q", "-f", "-u", "-a"],
      }).catch(async (error: unknown) => {
        throw await explainMissingObjects(source.call, source.tree, error);
      });

      await dateIndexAhead(index);
      if (!(await matchesIndex(source, { files, index }))) {
        throw new WorkspaceFailed(
          "workspace_unusable",
          "This disk can't hold all files of the commit: some names are the same to it, because they differ in case or spelling only.",
        );
      }

      await writeFile(checkMarkPath(draft), readBootId());
      return { version: baseVersion, bytes: await readTreeBytes(call, source.tree) };
    },
  );

/**
 * Turns git's failure to read objects into one that says which are missing, as in a damaged
 * repository or a partial clone. Git's own wording varies, so git is asked for the missing ones.
 * Returns the error itself if none is missing.
 */
export async function explainMissingObjects(
  call: GitContext,
  treeish: GitSha,
  error: unknown,
): Promise<unknown> {
  const args = [
    "rev-list",
    "--objects",
    "--missing=print",
    "--no-object-names",
    "--no-walk",
    treeish,
  ];

  const { out } = await git({
    ...call,
    args,
    acceptedExitCodes: [0, 128],
    outputBytesMax: missingBytesMax,
  });
  const missing = out.toString("latin1").match(/^\?.*/gm) ?? []; // `?<hash>` for each missing object
  const [first] = missing;
  if (first === undefined) return error;
  const subject =
    missing.length === 1
      ? "An object of the commit is"
      : `${missing.length} objects of the commit are`;

  // No command is advised: those that fetch obey the repository's configuration, which may name
  // programs.
  return new WorkspaceFailed(
    "workspace_unusable",
    `${subject} missing from this repository (${first.slice(1, 13)}). Nothing is fetched unasked.`,
    "clone the repository anew, in full (a partial clone lacks files until they are fetched), then try again",
  );
}

/** How much space the files of a tree take. */
async function readTreeBytes(call: GitContext, tree: GitSha): Promise<number> {
  const { out } = await git({ ...call, args: ["ls-tree", "-r", "-l", "-z", "--full-tree", tree] });
  let bytes = 0;

  for (let index = 0; index < out.length;) {
    const end = out.indexOf(0, index);
    const row = out.toString("latin1", index, Math.min(end, index + rowBytesMax)); // `100644 blob <hash>     123\tpath`
    bytes += Number(row.split(/ +|\t/)[3]) || 0;
    index = end + 1;
  }

  return bytes;
}
