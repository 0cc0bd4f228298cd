// check-repository: the git repository in a check's checkout, so that `git diff`, `git ls-files` or
// `git describe` say there what they say in a fresh clone of the commit.
//
// Invariants:
//   C1. It does not refer to the user's repository: no remote, no hooks, no configuration of theirs.
//       The history it reads is a copy: a lower folder of a view, or one that is mounted read-only.
//   C2. HEAD is the tree that the folder was made of. If that isn't the commit's own (protected files
//       as they were, an expectation broken on purpose), it is a commit on top, on no branch of the
//       user's: so `git diff` shows what the check wrote, and nothing else.
//   C3. It is part of the checkout: what a check writes in it is in no other one, and no change of
//       the tree.
//   C4. Where the history can't be had, as in a partial clone, there is none, and the check runs
//       without.

import { cp, mkdir, readdir, rename, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import { openStore } from "../bases/store.ts";
import { type History, openHistory, packInto } from "../bases/shared-history.ts";
import type { CheckoutRepository } from "../checkouts/checkouts.ts";
import { listParentFolders } from "../git/byte-path.ts";
import { WorkspaceFailed } from "../failure.ts";
import { erase } from "../folder.ts";
import { isAncestor } from "../git/commits.ts";
import { type NewObject, writeObject } from "../git/loose-objects.ts";
import { readObject } from "../git/object-reader.ts";
import { quotePath, withoutFilters } from "../git/shadow.ts";
import { gitlinkMode, isTree, resolveTree } from "../git/tree.ts";
import { openTreeFolders, readFileDifferences } from "../git/tree-folders.ts";
import type { RunWorkspace } from "../run-workspace.ts";
import { writeTags } from "./history-tags.ts";
import { composeLayerConfig } from "./layer.ts";

const commitBytesMax = 1 << 20;
/** More objects are packed by git. */
const copiedObjectsMax = 100;

export type CheckRepository = CheckoutRepository & {
  /** Object folders that it reads and a command must be able to see. */
  readonly borrows: readonly string[];
};

/** The repository of a checkout with this tree, to be written into it; null if there can be none. */
export async function planCheckRepository(
  run: RunWorkspace,
  commit: GitSha,
  tree: GitSha,
): Promise<CheckRepository | null> {
  try {
    const { call } = run.shadow;
    const isOfRun = commit === run.base.commit || (await isAncestor(call, run.base.commit, commit));
    const root = isOfRun ? run.base.commit : commit;
    const history = await openCheckHistory(run, root);
    const head = await writeHead(run, commit, tree);
    const isView = run.checkouts.kind === "overlay";
    const borrows = isView ? [] : history.objects;

    const work = commit === root ? null : await packWork(run, commit, history);
    const lowers = isView
      ? [await copyHistory(run, history), ...(work === null ? [] : [work])]
      : [];

    return {
      borrows,
      lowers,
      write: async (gitDir) => {
        await writeRepository(run, gitDir, { head, history, borrows });
        if (!isView && work !== null) await copyPacks(packsIn(work), packsIn(dirname(gitDir)));
        if (head !== commit) await writeNewObjects(run, gitDir, { commit, head, tree });
        if (isOfRun) await writeTags(run, gitDir, head);
      },
    };
  } catch (error) {
    if (!(error instanceof WorkspaceFailed) || error.reason === "disk_full") throw error;
    return null; // C4
  }
}

const historiesOfRuns = new WeakMap<RunWorkspace, Map<GitSha, Promise<History>>>();

/**
 * The history that agents share; where no isolation keeps them from writing to it, a copy of the
 * run's own.
 */
async function openCheckHistory(run: RunWorkspace, root: GitSha): Promise<History> {
  if (run.history !== null) return run.history(root);
  const histories = historiesOfRuns.get(run) ?? new Map<GitSha, Promise<History>>();
  historiesOfRuns.set(run, histories);
  const opening =
    histories.get(root) ??
    openHistory(openStore(join(run.runDir, "histories")), run.shadow.call, root);
  histories.set(root, opening);
  opening.catch(() => histories.delete(root));

  return opening;
}

/** The commit if it has this tree, else one on top of it that has, dated the same (C2). */
async function writeHead(run: RunWorkspace, commit: GitSha, tree: GitSha): Promise<GitSha> {
  const { call, format } = run.shadow;
  const object = await readObject(call, commit, commitBytesMax);
  const text = object?.content?.toString("latin1") ?? "";
  const lines = text.slice(0, text.indexOf("\n\n")).split("\n");
  if (object?.type !== "commit" || lines[0] === `tree ${tree}`) return commit;
  const kept = lines.filter((line) => /^(?:author|committer|encoding) /.test(line));
  const header = [`tree ${tree}`, `parent ${commit}`, ...kept].join("\n");
  const content = Buffer.from(`${header}${text.slice(text.indexOf("\n\n"))}`, "latin1");

  return writeObject(call, format, { type: "commit", content });
}

/**
 * The history as a part of a repository, to be a lower folder of views: so no path in them leads
 * out.
 */
const copyHistory = (run: RunWorkspace, { commit, objects }: History): Promise<string> =>
  makeOnce(run, `seen-${commit}`, async (packs) => {
    for (const source of objects) await copyPacks(join(source, "pack"), packs);
  });

/** What the run's commits add to its history, in the same form. */
const packWork = (run: RunWorkspace, commit: GitSha, { commit: root, shallow }: History) =>
  makeOnce(run, `work-${commit}`, (packs) =>
    packInto(run.shadow.call, packs, commit, { without: [root], shallow }),
  );

const packsIn = (folder: string): string => join(folder, ".git", "objects", "pack");

async function copyPacks(from: string, to: string): Promise<void> {
  for (const name of await readdir(from)) await cp(join(from, name), join(to, name));
}

const foldersOfRuns = new WeakMap<RunWorkspace, Map<string, Promise<string>>>();

/** A folder of the run with packs, which appears whole, and stays as it is. */
function makeOnce(
  run: RunWorkspace,
  name: string,
  writePacks: (packs: string) => Promise<void>,
): Promise<string> {
  const folders = foldersOfRuns.get(run) ?? new Map<string, Promise<string>>();
  foldersOfRuns.set(run, folders);
  const making = folders.get(name) ?? makePacks(join(run.runDir, "histories", name), writePacks);
  folders.set(name, making);
  making.catch(() => folders.delete(name));

  return making;
}

async function makePacks(
  folder: string,
  writePacks: (packs: string) => Promise<void>,
): Promise<string> {
  if (existsSync(folder)) return folder;
  const draft = `${folder}.draft`;
  await erase(draft); // of a process that was killed
  await mkdir(packsIn(draft), { recursive: true });
  await writePacks(packsIn(draft));
  await rename(draft, folder);

  return folder;
}

type NewCommit = { readonly commit: GitSha; readonly head: GitSha; readonly tree: GitSha };

/** Copies the objects that a commit on top adds, without a process if they are few. */
async function writeNewObjects(
  { shadow: { call, format } }: RunWorkspace,
  gitDir: string,
  { commit, head, tree }: NewCommit,
): Promise<void> {
  const folders = openTreeFolders(call);
  const names = new Set<GitSha>([head, tree]);
  const from = await resolveTree(call, commit);

  for (const { path, now } of await readFileDifferences(call, from, tree)) {
    if (now !== undefined && now.mode !== gitlinkMode) names.add(now.sha);
    for (const parent of listParentFolders(path)) {
      const entry = await folders.findEntry(tree, parent);
      if (entry !== undefined && isTree(entry)) names.add(entry.sha);
    }
  }

  if (names.size > copiedObjectsMax) {
    const packs = join(gitDir, "objects", "pack");
    return packInto(call, packs, head, { without: [commit], shallow: [] });
  }

  const into = { ...call, env: { ...call.env, GIT_OBJECT_DIRECTORY: join(gitDir, "objects") } };
  for (const name of names) {
    const object = await readObject(call, name);
    if (object?.content == null)
      throw new WorkspaceFailed("workspace_unusable", `${name} is gone.`);
    const type = object.type as NewObject["type"];
    await writeObject(into, format, { type, content: object.content });
  }
}

type Contents = {
  readonly head: GitSha;
  readonly history: History;
  readonly borrows: readonly string[];
};

/** The files of a repository without its index and its newest objects. */
async function writeRepository(
  run: RunWorkspace,
  gitDir: string,
  { head, history: { shallow }, borrows }: Contents,
): Promise<void> {
  for (const name of ["info", "objects/info", "objects/pack", "refs/heads", "refs/tags"]) {
    await mkdir(join(gitDir, name), { recursive: true });
  }

  const { branch } = run.base;
  const ref = branch === null ? null : `refs/heads/${branch}`;
  await writeFile(join(gitDir, "HEAD"), ref === null ? `${head}\n` : `ref: ${ref}\n`);
  if (ref !== null) {
    await mkdir(dirname(join(gitDir, ref)), { recursive: true });
    await writeFile(join(gitDir, ref), `${head}\n`);
  }

  await writeFile(join(gitDir, "config"), composeLayerConfig(run.shadow.format, run.identity));
  await writeFile(join(gitDir, "info", "attributes"), withoutFilters);
  await cp(join(run.shadow.gitDir, "info", "exclude"), join(gitDir, "info", "exclude"));
  if (borrows.length > 0) {
    const lines = borrows.map((path) => `${quotePath(path)}\n`);
    await writeFile(join(gitDir, "objects", "info", "alternates"), lines.join("")); // C1
  }

  if (shallow.length > 0) {
    await writeFile(join(gitDir, "shallow"), shallow.map((boundary) => `${boundary}\n`).join(""));
  }
}
