// interrupted-landing: an interrupted landing leaves the user's checkout between two commits. This restores the first, so that landing can
// start over.
//
// Invariants:
//   C1. A landing is recorded before the checkout is touched, and the record is removed when it is done or undone.
//   C2. Only the landing's own changes are undone: a file that has the new content or its beginning, or is gone.
//       If any file is neither, nothing is touched: it is the user's.

import { existsSync, lstatSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { GitSha } from "../../contracts/ids.ts";
import { buildBytePath, bytePathBytes, displayPath, type BytePath } from "../git/byte-path.ts";
import { readJson, writeWhole } from "../folder.ts";
import { git, gitLine } from "../git/git.ts";
import { userRepositoryCall } from "../git/history.ts";
import { clearLock, isGoneInTime } from "../git/leftovers.ts";
import type { OpenRun } from "../run.ts";
import { statusOf } from "../git/status.ts";
import { readTree } from "../git/read-tree.ts";
import { userViewCall } from "../git/user-view.ts";

const Begun = v.strictObject({ version: v.literal(1), from: GitSha, to: GitSha });
type Begun = v.InferOutput<typeof Begun>;

const fileFor = (run: OpenRun): string => join(run.folders.layers, "..", "landing.json");

export const writeLanding = (run: OpenRun, from: GitSha, to: GitSha): Promise<void> =>
  writeWhole(fileFor(run), `${JSON.stringify({ version: 1, from, to } satisfies Begun)}\n`); // C1

export const forgetLanding = (run: OpenRun): Promise<void> => rm(fileFor(run), { force: true });

/** Why an interrupted landing cannot be undone. */
export type Stuck = { readonly because: "checkout_busy" | "checkout_dirty"; readonly detail: string };

/** Undoes an interrupted landing; returns why it cannot be, null if nothing is left of it. */
export async function undoCutLanding(run: OpenRun): Promise<Stuck | null> {
  const begun = v.safeParse(Begun, await readJson(fileFor(run)));
  if (!begun.success) return null;
  const { from, to } = begun.output;
  for (const lock of locksOf(run)) {
    if (!(await clearLock(lock, run.repository.root, "theirs"))) return heldBy(lock);
  }
  const head = await gitLine({ ...userRepositoryCall(run), args: ["rev-parse", "--verify", "HEAD^{commit}"] });
  if (!(await isLanded(run, to, head))) {
    const stranger = await undo(run, head, from, to);
    if (stranger !== null) return { because: "checkout_dirty", detail: `Uncommitted changes: ${displayPath(stranger)}.` };
  }
  await forgetLanding(run);
  return null;
}

/** A lock from before the landing is another process's (C2): it is waited for, and never deleted. */
export async function foreignLock(run: OpenRun): Promise<Stuck | null> {
  for (const lock of locksOf(run)) if (!(await isGoneInTime(lock))) return heldBy(lock);
  return null;
}

export const isLocked = (run: OpenRun): boolean => locksOf(run).some((lock) => existsSync(lock));

const heldBy = (lock: string): Stuck => ({
  because: "checkout_busy",
  detail: `Another git is at work here, or was killed and left its lock: ${lock}.`,
});

/** What `git merge` locks when it moves a checkout forward. */
function locksOf({ repository, base }: OpenRun): readonly string[] {
  const branch = base.branch === null ? [] : [join(repository.commonDir, "refs", "heads", `${base.branch}.lock`)];
  return [
    join(repository.gitDir, "index.lock"),
    join(repository.gitDir, "HEAD.lock"),
    join(repository.gitDir, "ORIG_HEAD.lock"),
    ...branch,
  ];
}

async function isLanded(run: OpenRun, to: GitSha, head: GitSha): Promise<boolean> {
  return (await git({ ...userRepositoryCall(run), args: ["merge-base", "--is-ancestor", to, head], codes: [0, 1] })).code === 0;
}

/**
 * Restores index and files to the branch's content, which may have moved meanwhile; returns a file that is not the landing's, and then has
 * touched nothing.
 */
async function undo(run: OpenRun, head: GitSha, from: GitSha, to: GitSha): Promise<BytePath | null> {
  const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to, "--"];
  const words = (await git({ ...userRepositoryCall(run), args })).out.toString("latin1").split("\0");
  const { changed, untracked } = await statusOf(run.repository, run.isOwned);
  const differing = new Set([...changed, ...untracked]);
  const touched: { readonly path: BytePath; readonly isNew: boolean }[] = [];
  const held = await readTree(run.shadow.callIntoUser, head);
  for (const word of words) {
    const path = buildBytePath(Buffer.from(word, "latin1"));
    if (word === "" || !differing.has(displayPath(path))) continue;
    if (!(await isOfLanding(run, path, from, to))) return path; // C2
    touched.push({ path, isNew: !held.has(path) });
  }
  if (touched.length === 0) return null;
  const view = userViewCall(run.repository);
  const theirs = { ...view, env: { ...view.env, GIT_LITERAL_PATHSPECS: "1" } };
  const listed = (paths: readonly { readonly path: BytePath }[]): Buffer[] =>
    paths.map(({ path }) => Buffer.concat([bytePathBytes(path), Buffer.from([0])]));
  await git({ ...theirs, args: ["reset", "-q", "--pathspec-from-file=-", "--pathspec-file-nul", head], input: listed(touched) });
  for (const { path, isNew } of touched) if (isNew) rmSync(runPlace(run, path), { force: true });
  await git({
    ...theirs,
    args: ["checkout-index", "-q", "-f", "-u", "-z", "--stdin"],
    input: listed(touched.filter(({ isNew }) => !isNew)),
  });
  return null;
}

async function isOfLanding(run: OpenRun, path: BytePath, from: GitSha, to: GitSha): Promise<boolean> {
  const found = contentAt(run, path);
  if (found === null) return true;
  if (found === "other") return false;
  const [before, after] = [await readContent(run, from, path), await readContent(run, to, path)];
  if (before?.equals(found) === true) return true; // only the index had been updated
  return after !== null && after.subarray(0, found.length).equals(found);
}

/** A file's content as a checkout would write it, with the user's own filters; null if the commit has no such file. */
async function readContent(run: OpenRun, commit: GitSha, path: BytePath): Promise<Buffer | null> {
  const name = `${commit}:${bytePathBytes(path).toString("utf8")}`;
  const { code, out } = await git({ ...userViewCall(run.repository), args: ["cat-file", "--filters", name], codes: [0, 128] });
  return code === 0 ? out : null;
}

function contentAt(run: OpenRun, path: BytePath): Buffer | "other" | null {
  const place = runPlace(run, path);
  const stat = lstatSync(place, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  if (stat.isSymbolicLink()) return readlinkSync(place, { encoding: "buffer" });
  return stat.isFile() ? readFileSync(place) : "other";
}

const runPlace = (run: OpenRun, path: BytePath): Buffer => Buffer.concat([Buffer.from(`${run.repository.root}/`), bytePathBytes(path)]);
