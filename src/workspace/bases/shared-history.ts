// shared-history: the git objects that an agent's repository borrows: those of one commit and a
// little of its past, copied once into the store (store.ts) and shared by every agent of this
// machine that starts at that commit.
//
// Invariants:
//   H1. It has only what is reachable from its commit: no other branch, no other run, nothing that
//       a mask hides.
//   H2. It does not refer to the user's repository: objects are copied, and it borrows only from
//       the history of an ancestor.
//   H3. It is created anew if anything in it changed since it was sealed (sealed-folder.ts).

import { existsSync } from "node:fs";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import { WorkspaceFailed } from "../failure.ts";
import { erase, readJson } from "../folder.ts";
import { readRecentLine } from "../git/commits.ts";
import { git } from "../git/git.ts";
import type { GitContext } from "../git/safe-git-call.ts";
import { quotePath } from "../git/shadow.ts";
import { readShallowCommits } from "../git/shallow-commits.ts";
import { explainMissingObjects } from "./base.ts";
import type { BaseLock } from "./base-lock.ts";
import { isIntact, type SealedFolder } from "./sealed-folder.ts";
import { createStoreEntry, deleteStoreEntry, leaseStoreEntry, type Store } from "./store.ts";

const historyCommitsMax = 20;
/** How many histories may borrow from each other in a row. Git follows no more than five. */
const borrowDepthMax = 3;
const openTriesMax = 5;

export type History = {
  readonly commit: GitSha;
  /** The object folders that a repository borrowing from it reads, the commit's own first. */
  readonly objects: readonly string[];
  readonly folders: readonly SealedFolder[];
  /** Commits whose parents are missing. */
  readonly shallow: readonly GitSha[];
  readonly leases: readonly BaseLock[];
};

/**
 * What a history's note says. `below`: the ancestor whose history it borrows from; `depth`: how
 * many it borrows from in a row.
 */
type StoredHistory = {
  readonly shallow: readonly GitSha[];
  readonly below: GitSha | null;
  readonly depth: number;
};

const historyFolder = (store: Store, commit: GitSha): string =>
  join(store.folder, "history", commit);

/** The history of a commit, copied if it does not exist yet. */
export async function openHistory(
  store: Store,
  call: GitContext,
  commit: GitSha,
): Promise<History> {
  for (let tries = 0; ; tries += 1) {
    const history = await leaseHistory(store, commit);
    if (history !== null) return history;
    if (tries >= openTriesMax) {
      throw new Error(`the history of ${commit} vanishes as soon as it is made`);
    }

    await createHistory(store, call, commit);
  }
}

/**
 * The commit's history with those it borrows from, all leased; null if one is missing or damaged,
 * which is then deleted.
 */
async function leaseHistory(store: Store, commit: GitSha): Promise<History | null> {
  const leases: BaseLock[] = [];
  const folders: SealedFolder[] = [];
  let newest: StoredHistory | null = null;

  for (let current: GitSha | null = commit; current !== null;) {
    const folder = historyFolder(store, current);
    const leased = await leaseStoreEntry(store, {
      folder,
      filesName: "objects",
      contentKey: current,
    });
    if (leased !== null) leases.push(leased.lease);
    // H3
    if (leased === null || !(await isIntact(leased))) {
      for (const lease of leases) lease.release();
      if (leased !== null) await deleteStoreEntry(store, folder);
      if (current !== commit) await deleteStoreEntry(store, historyFolder(store, commit)); // it borrows from what is gone

      return null;
    }

    const stored = leased.note as StoredHistory;
    folders.push(leased);
    newest ??= stored;
    current = stored.below;
  }

  return {
    commit,
    folders,
    objects: folders.map(({ files }) => files),
    shallow: newest?.shallow ?? [],
    leases,
  };
}

async function createHistory(store: Store, call: GitContext, commit: GitSha): Promise<void> {
  const past = await readPastCommits(call, commit);
  const ancestor = await findNearestHistory(store, past.commits.slice(1));

  const entry = {
    folder: historyFolder(store, commit),
    filesName: "objects",
    contentKey: commit,
    kind: "history",
  };
  await createStoreEntry(store, entry, async (objects) => {
    const packs = join(objects, "pack");
    await mkdir(packs);
    const boundary = {
      without: ancestor === null ? [] : [ancestor.commit],
      shallow: ancestor === null ? past.shallow : ancestor.shallow,
    };
    const shallow = await packAvailable(call, packs, commit, boundary); // H1
    await mkdir(join(objects, "info"), { recursive: true });

    if (ancestor !== null) {
      await writeFile(
        join(objects, "info", "alternates"),
        `${join(historyFolder(store, ancestor.commit), "objects")}\n`,
      );
    } // H2

    const stored: StoredHistory = {
      shallow,
      below: ancestor?.commit ?? null,
      depth: ancestor === null ? 0 : ancestor.depth + 1,
    };

    return { version: 1, bytes: await readFolderBytes(packs), ...stored };
  });
}

/**
 * The last commits up to one, and those of them whose parents are left out here or missing in the
 * user's repository.
 */
async function readPastCommits(
  call: GitContext,
  commit: GitSha,
): Promise<{ readonly commits: readonly GitSha[]; readonly shallow: readonly GitSha[] }> {
  const line = await readRecentLine(call, commit, historyCommitsMax);
  const rows =
    line?.map(({ commit: hash, parents }) => [hash, ...parents]) ??
    (await listPastCommits(call, commit));
  const commits = new Set(rows.map(([hash = ""]) => hash));
  const gitDir = call.env?.["GIT_DIR"];
  const cutOff = new Set(gitDir === undefined ? [] : readShallowCommits(gitDir));

  return {
    commits: [...commits],
    shallow: rows
      .filter(
        ([hash = "", ...parents]) =>
          cutOff.has(hash) || parents.some((parent) => !commits.has(parent)),
      )
      .map(([hash = ""]) => hash),
  };
}

/** The last commits up to one, by git: hashes, each with its parents. */
async function listPastCommits(
  call: GitContext,
  commit: GitSha,
): Promise<readonly (readonly GitSha[])[]> {
  const { out } = await git({
    ...call,
    args: ["rev-list", "--topo-order", "--parents", `--max-count=${historyCommitsMax}`, commit],
  });

  return out
    .toString("latin1")
    .trim()
    .split("\n")
    .map((row) => row.split(" "));
}

/** The first of these commits that has a history from which another may still borrow. */
async function findNearestHistory(
  store: Store,
  candidates: readonly GitSha[],
): Promise<(StoredHistory & { readonly commit: GitSha }) | null> {
  for (const commit of candidates) {
    const folder = historyFolder(store, commit);
    if (!existsSync(join(folder, "lease"))) continue;
    const stored = (await readJson(join(folder, "base.json"))) as StoredHistory | null;
    if (stored !== null && stored.depth < borrowDepthMax) return { ...stored, commit };
  }

  return null;
}

/**
 * Packs the commit with its past, or alone if the past is missing, as in a partial clone. Returns
 * the shallow commits.
 */
async function packAvailable(
  call: GitContext,
  packs: string,
  commit: GitSha,
  past: PackBoundary,
): Promise<readonly GitSha[]> {
  try {
    await packInto(call, packs, commit, past);
    return past.shallow;
  } catch (error) {
    if (
      !(error instanceof WorkspaceFailed) ||
      error.reason === "disk_full" ||
      past.without.length > 0
    ) {
      throw error;
    }

    await erase(packs); // with the half of a pack that git left
    await mkdir(packs);
    await packInto(call, packs, commit, { without: [], shallow: [commit] }).catch(
      async (again: unknown) => {
        throw await explainMissingObjects(call, commit, again);
      },
    );

    return [commit];
  }
}

/** Copies a commit and a little of its past, borrowing nothing. Returns the shallow commits. */
export async function packHistory(
  call: GitContext,
  packs: string,
  commit: GitSha,
): Promise<readonly GitSha[]> {
  const { shallow } = await readPastCommits(call, commit);
  return packAvailable(call, packs, commit, { without: [], shallow });
}

type PackBoundary = { readonly without: readonly GitSha[]; readonly shallow: readonly GitSha[] };

/**
 * Copies the objects that are reachable from a commit and not from others, without a search for
 * deltas, which costs more than it saves.
 */
export async function packInto(
  call: GitContext,
  packs: string,
  commit: GitSha,
  { without, shallow }: PackBoundary,
): Promise<void> {
  const shallowLines = shallow.map((boundary) => `--shallow ${boundary}`);
  const excludedLines = without.map((excluded) => `^${excluded}`);
  const revisions = [...shallowLines, commit, ...excludedLines, ""].join("\n");

  // Git writes a pack in its object folder and renames it, which must be on the target disk: a
  // cache often is on another.
  const env = {
    ...call.env,
    GIT_OBJECT_DIRECTORY: dirname(packs),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: quotePath(join(call.env?.["GIT_DIR"] ?? call.cwd, "objects")),
  };

  await git({
    ...call,
    env,
    args: [
      "-c",
      "pack.compression=1",
      "pack-objects",
      "-q",
      "--revs",
      "--shallow",
      "--window=0",
      "--threads=2",
      join(packs, "pack"),
    ],
    input: [Buffer.from(revisions)],
  });
}

async function readFolderBytes(folder: string): Promise<number> {
  const sizes = await Promise.all(
    (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
