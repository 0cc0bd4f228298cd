// check-repository: the git repository in a check's checkout, so that `git diff`, `git ls-files` or
// `git describe` say there what they say in a fresh clone of the commit.
//
// Invariants:
//   C1. Nothing in it refers to the user's repository: no remote, no hooks, no configuration of
//       theirs, no borrowed objects. The history is copied into the run once, and is a lower folder
//       of a view, or copied again. No process and no lock outlives the copying.
//   C2. HEAD is the tree that the folder was made of. If that isn't the commit's own (protected files
//       as they were, an expectation broken on purpose), it is a commit on top, on no branch of the
//       user's: so `git diff` shows what the check wrote, and nothing else.
//   C3. It is part of the checkout: what a check writes in it is in no other one, and no change of
//       the tree.
//   C4. Where the history can't be had, as in a partial clone, there is none, and the check runs
//       without.

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import { packInto } from "../bases/shared-history.ts";
import type { CheckoutRepository } from "../checkouts/checkouts.ts";
import { WorkspaceFailed } from "../failure.ts";
import { isAncestor } from "../git/commits.ts";
import { type NewObject, writeObject } from "../git/loose-objects.ts";
import { readObject } from "../git/object-reader.ts";
import { isGitlink, isTree, resolveTree } from "../git/tree.ts";
import { openTreeFolders, readFileDifferences } from "../git/tree-folders.ts";
import { invariant } from "../../kit/invariant.ts";
import { listParentFolders } from "../git/byte-path.ts";
import type { RunWorkspace } from "../run-workspace.ts";
import { writeEmptyRepository } from "./empty-repository.ts";
import { writeTags } from "./history-tags.ts";
import { openRunHistory, packsIn } from "./run-history.ts";

const commitBytesMax = 1 << 20;
/** More objects are packed by git. */
const copiedObjectsMax = 100;

/** The repository of a checkout with this tree, to be written into it; null if there can be none. */
export async function planCheckRepository(
  run: RunWorkspace,
  commit: GitSha,
  tree: GitSha,
): Promise<CheckoutRepository | null> {
  const { call } = run.shadow;

  try {
    const isOfRun = commit === run.base.commit || (await isAncestor(call, run.base.commit, commit));
    const root = isOfRun ? run.base.commit : commit;
    const { folders, shallow } = await openRunHistory(run, root, commit);
    const head = await writeHead(run, commit, tree);

    return {
      lowers: folders,
      write: async (gitDir) => {
        await writeRepository(run, gitDir, head, shallow);
        if (head !== commit) await writeNewObjects(run, gitDir, { commit, head, tree });
        if (isOfRun) await writeTags(run, gitDir, head);
      },
    };
  } catch (error) {
    if (!(error instanceof WorkspaceFailed) || error.reason === "disk_full") throw error;
    return null; // C4
  }
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

type NewCommit = { readonly commit: GitSha; readonly head: GitSha; readonly tree: GitSha };

/** Writes the objects that a commit on top adds: without a process if they are few. */
async function writeNewObjects(
  { shadow: { call, format } }: RunWorkspace,
  gitDir: string,
  { commit, head, tree }: NewCommit,
): Promise<void> {
  const folders = openTreeFolders(call);
  const names = new Set<GitSha>([head, tree]);
  const differences = await readFileDifferences(call, await resolveTree(call, commit), tree);
  for (const { path, after } of differences) {
    if (after !== undefined && !isGitlink(after)) names.add(after.sha);
    for (const parent of listParentFolders(path)) {
      const entry = await folders.findEntry(tree, parent);
      if (entry !== undefined && isTree(entry)) names.add(entry.sha);
    }
  }

  const into = { ...call, env: { ...call.env, GIT_OBJECT_DIRECTORY: join(gitDir, "objects") } };
  const objects = names.size > copiedObjectsMax ? [] : [...names];
  for (const name of objects) {
    const object = await readObject(call, name);
    invariant(object?.content != null, "what was just written can be read");
    const type = object.type as NewObject["type"];
    await writeObject(into, format, { type, content: object.content });
  }

  if (objects.length === 0) {
    await packInto(call, packsIn(gitDir), head, { without: [commit], shallow: [] });
  }
}

/** A repository with this commit on the branch that the user is on, without its objects. */
async function writeRepository(
  run: RunWorkspace,
  gitDir: string,
  commit: GitSha,
  shallow: readonly GitSha[],
): Promise<void> {
  const { branch } = run.base;
  const head = branch === null ? commit : `ref: refs/heads/${branch}`;
  await writeEmptyRepository(run, gitDir, { head, identity: run.identity }); // C1
  if (branch !== null) {
    const ref = join(gitDir, "refs", "heads", branch);
    await mkdir(dirname(ref), { recursive: true });
    await writeFile(ref, `${commit}\n`);
  }

  if (shallow.length > 0) await writeFile(join(gitDir, "shallow"), `${shallow.join("\n")}\n`);
}
