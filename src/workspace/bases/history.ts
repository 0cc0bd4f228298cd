// history: the objects that an agent's repository borrows: those of one commit and a little of its past, copied once and shared by every
// agent of this machine that starts there.
//
// Invariants:
//   H1. It has only what is reachable from its commit: no other branch, no other run, nothing that a mask hides.
//   H2. It does not refer to the user's repository: objects are copied, and it borrows only from the store of an ancestor.
//   H3. Built under a temporary name and renamed whole, like a base.

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import { errorErrno, WorkspaceFailed } from "../failure.ts";
import { erase, readJson, writeWhole } from "../folder.ts";
import { git, type GitCall } from "../git/git.ts";
import { quoted } from "../git/shadow.ts";
import { evict, lockedDraft, missingOr, type Store } from "./base.ts";
import { type BaseLock, lockShared } from "./base-lock.ts";

export const historyCommits = 20;
/** Git follows no more than five stores that borrow from each other. */
const borrowedMax = 3;

export type History = {
  readonly commit: GitSha;
  /** Object folders, the commit's own first; all that a repository borrowing from it may read. */
  readonly objects: readonly string[];
  /** Commits whose parents are missing. */
  readonly shallow: readonly GitSha[];
  readonly leases: readonly BaseLock[];
};

type Noted = { readonly shallow: readonly GitSha[]; readonly below: GitSha | null; readonly depth: number };

const storeFolder = (store: Store, commit: GitSha): string => join(store.folder, "history", commit);

/** The history of a commit, copied if it does not exist yet. */
export async function openHistory(store: Store, call: Omit<GitCall, "args">, commit: GitSha): Promise<History> {
  for (let tries = 0; ; tries += 1) {
    const history = await take(store, commit);
    if (history !== null) return history;
    if (tries > 4) throw new Error(`the history of ${commit} vanishes as soon as it is made`);
    await make(store, call, commit);
  }
}

async function take(store: Store, commit: GitSha): Promise<History | null> {
  const leases: BaseLock[] = [];
  const objects: string[] = [];
  let top: Noted | null = null;
  for (let at: GitSha | null = commit; at !== null;) {
    const folder = storeFolder(store, at);
    const lease = await lockShared(join(folder, "lease"));
    const noted = (lease === null ? null : await readJson(join(folder, "base.json"))) as Noted | null;
    if (lease !== null) leases.push(lease);
    const packs = noted === null ? [] : await readdir(join(folder, "objects", "pack")).catch(() => []);
    // A pack without its list, or the reverse, is damaged; an unusable one is rebuilt.
    if (noted === null || packs.length === 0 || packs.length % 2 !== 0) {
      for (const item of leases) item.release();
      if (lease !== null) await erase(folder);
      return null;
    }
    top ??= noted;
    objects.push(join(folder, "objects"));
    at = noted.below;
  }
  return { commit, objects, shallow: top?.shallow ?? [], leases };
}

async function make(store: Store, call: Omit<GitCall, "args">, commit: GitSha): Promise<void> {
  const listed = await pastOf(call, commit);
  const below = await nearest(store, listed.commits.slice(1));
  const draft = join(store.folder, "drafts", randomUUID());
  const packs = join(draft, "objects", "pack");
  try {
    await mkdir(packs, { recursive: true });
    const making = await lockedDraft(draft);
    try {
      const past = { without: below === null ? [] : [below.commit], shallow: below === null ? listed.shallow : below.shallow };
      const shallow = await packWhatIsThere(call, packs, commit, past);
      await mkdir(join(draft, "objects", "info"), { recursive: true });
      if (below !== null)
        await writeFile(join(draft, "objects", "info", "alternates"), `${join(storeFolder(store, below.commit), "objects")}\n`); // H2
      const noted: Noted = { shallow, below: below?.commit ?? null, depth: below === null ? 0 : below.depth + 1 };
      await writeWhole(join(draft, "base.json"), `${JSON.stringify({ version: 1, bytes: await readBytes(packs), ...noted })}\n`);
      await rename(draft, storeFolder(store, commit)).catch((error: unknown) => {
        if (!["ENOTEMPTY", "EEXIST"].includes(errorErrno(error) ?? "")) throw error; // H3: another was first
      });
    } finally {
      making?.release();
    }
  } finally {
    await erase(draft);
  }
  await evict(store);
}

/** The last commits up to one, and those of them whose parents are left out. */
async function pastOf(
  call: Omit<GitCall, "args">,
  commit: GitSha,
): Promise<{ readonly commits: readonly GitSha[]; readonly shallow: readonly GitSha[] }> {
  const { out } = await git({ ...call, args: ["rev-list", "--topo-order", "--parents", `--max-count=${historyCommits}`, commit] });
  const rows = out
    .toString("latin1")
    .trim()
    .split("\n")
    .map((row) => row.split(" "));
  const there = new Set(rows.map(([own = ""]) => own));
  return {
    commits: [...there],
    shallow: rows.filter(([, ...parents]) => parents.some((parent) => !there.has(parent))).map(([own = ""]) => own),
  };
}

async function nearest(store: Store, before: readonly GitSha[]): Promise<(Noted & { readonly commit: GitSha }) | null> {
  for (const commit of before) {
    const folder = storeFolder(store, commit);
    if (!existsSync(join(folder, "lease"))) continue;
    const noted = (await readJson(join(folder, "base.json"))) as Noted | null;
    if (noted !== null && noted.depth < borrowedMax) return { ...noted, commit };
  }
  return null;
}

/** If the past is missing, as in a partial clone, the commit itself is enough. */
async function packWhatIsThere(call: Omit<GitCall, "args">, packs: string, commit: GitSha, past: Past): Promise<readonly GitSha[]> {
  try {
    await packInto(call, packs, commit, past.without, past.shallow);
    return past.shallow;
  } catch (error) {
    if (!(error instanceof WorkspaceFailed) || error.reason === "disk_full" || past.without.length > 0) throw error;
    await erase(packs); // with the half of a pack that git left
    await mkdir(packs);
    await packInto(call, packs, commit, [], [commit]).catch(async (again: unknown) => {
      throw await missingOr(call, commit, again);
    });
    return [commit];
  }
}
type Past = { readonly without: readonly GitSha[]; readonly shallow: readonly GitSha[] };

/** Copies what is reachable from a commit and not from others; compressed as it is, because delta search costs more than it saves. */
export async function packInto(
  call: Omit<GitCall, "args">,
  packs: string,
  commit: GitSha,
  without: readonly GitSha[],
  shallow: readonly GitSha[],
): Promise<void> {
  const wanted = [...shallow.map((commitId) => `--shallow ${commitId}`), commit, ...without.map((commitId) => `^${commitId}`), ""].join(
    "\n",
  );
  // Git writes a pack in its object folder and renames it, which must be on the target disk: a cache often is on another.
  const env = {
    ...call.env,
    GIT_OBJECT_DIRECTORY: dirname(packs),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(join(call.env?.["GIT_DIR"] ?? call.cwd, "objects")),
  };
  await git({
    ...call,
    env,
    args: ["-c", "pack.compression=1", "pack-objects", "-q", "--revs", "--shallow", "--window=0", "--threads=2", join(packs, "pack")],
    input: [Buffer.from(wanted)],
  });
}

async function readBytes(folder: string): Promise<number> {
  const sizes = await Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
