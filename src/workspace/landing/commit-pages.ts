// commit-pages: commits the documents (pages) that the runner wrote into the user's checkout, as
// one separate commit on the user's branch.
//
// Invariants:
//   P1. The commit is HEAD with these files and nothing else; what the user has staged or changed
//       is neither in it nor lost.
//   P2. Only if work could land: on the branch the run began on, without uncommitted changes to the
//       user's own files, and no merge in progress. A file that the user's rules ignore stays out.
//       Otherwise nothing is touched.
//   P3. No hook, filter or signing program runs: the files are committed as they are.
//   P4. Once per run: the commit names its run and is searched for first. The index is updated
//       before the branch: after a crash in between, the files are staged, and the next call
//       commits them.

import { lstatSync } from "node:fs";
import type { GitSha } from "../../contracts/ids.ts";
import {
  bytePathFromText,
  type BytePath,
  bytePathToBytes,
  displayPath,
  toDiskPath,
} from "../git/byte-path.ts";
import { git, readGitLine } from "../git/git.ts";
import type { GitContext } from "../git/safe-git-call.ts";
import { toIdentityVariables, readIdentity } from "../git/identity.ts";
import { alwaysOwnedPaths } from "../owned-paths.ts";
import { findRepository, type Repository } from "../git/repository.ts";
import { compileOwnedPaths } from "../layers/scope-globs.ts";
import { readChangedFiles } from "../git/checkout-status.ts";
import { isTree, isSameEntry, type TreeEntry, resolveTree } from "../git/tree.ts";
import { openTreeFolders, writeEditedTree, type TreeChange } from "../git/tree-folders.ts";
import { openUserView } from "../git/user-view.ts";
import { findUnfinishedOperation } from "./unfinished-operation.ts";

/** The documents of one piece of work, and the commit with which that work landed. */
export type Pages = {
  readonly folder: string;
  readonly landed: GitSha;
  readonly files: ReadonlyMap<string, Buffer>;
};

export type PagesInput = {
  readonly root: string;
  readonly runId: string;
  readonly base: { readonly commit: GitSha; readonly branch: string | null };
  /** Globs of the runner's own paths; only such files are committed. */
  readonly owned: readonly string[];
  readonly pages: readonly Pages[];
  readonly subject: string;
};

type PagesGitContext = GitContext & { readonly env: Readonly<Record<string, string>> };

const pagesTrailer = "Autopilot-Pages";

/** The commit, or null if there is none to make or it cannot be made now. */
export async function commitPages(input: PagesInput): Promise<GitSha | null> {
  const lookup = await findRepository(input.root);
  if (!("repository" in lookup)) return null;
  const { repository } = lookup;
  const { head, branch } = repository;
  const call: PagesGitContext = { ...(await openUserView(repository)), config: "none" }; // P3
  if (branch === null || branch !== input.base.branch) return null;
  if ((await findUnfinishedOperation(repository, `refs/heads/${branch}`)) !== null) return null;
  if (await isCommitted(call, input, head.commit)) return null; // P4
  const changed = await readChangedFiles(
    repository,
    compileOwnedPaths([...alwaysOwnedPaths, ...input.owned]),
  );
  if (changed.length > 0) return null; // P2
  const pages: Pages[] = [];
  for (const page of input.pages) {
    if (await isAncestor(call, page.landed, head.commit)) pages.push(page);
  }

  const changes = await readChanges(repository, call, input, pages);
  if (changes.length === 0) return null;

  const tree = await writeEditedTree(call, repository.format, head.tree, changes);
  const identity = toIdentityVariables(await readIdentity(repository.root));
  const text = `${input.subject}\n\nAutopilot-Run: ${input.runId}\n${pagesTrailer}: ${input.runId}\n`;

  const commit = await readGitLine({
    ...call,
    env: { ...call.env, ...identity },
    args: ["commit-tree", tree, "-p", head.commit, "-F", "-"],
    input: [Buffer.from(text)],
  });

  if (!(await updateIndex(call, repository, changes))) return null; // P4
  const args = ["update-ref", "-m", "autopilot: pages", "HEAD", commit, head.commit];
  const user = { cwd: repository.root, env: { GIT_DIR: repository.gitDir, ...identity } };
  const headUpdate = await git({ ...user, args, acceptedExitCodes: [0, 1, 128] });
  if (headUpdate.code === 0) return commit;
  await updateIndex(call, repository, await readHeadEntries(call, head.commit, changes)); // the branch was moved meanwhile

  return null;
}

/** Also false if one of the commits is gone. */
const isAncestor = async (call: PagesGitContext, older: GitSha, head: GitSha): Promise<boolean> =>
  (
    await git({
      ...call,
      args: ["merge-base", "--is-ancestor", older, head],
      acceptedExitCodes: [0, 1, 128],
    })
  ).code === 0;

async function isCommitted(
  call: PagesGitContext,
  { base, runId }: PagesInput,
  head: GitSha,
): Promise<boolean> {
  const args = [
    "log",
    `--format=%(trailers:key=${pagesTrailer},valueonly)`,
    `${base.commit}..${head}`,
    "--",
  ];

  const { code, out } = await git({ ...call, args, acceptedExitCodes: [0, 128] });
  return code !== 0 || out.toString("utf8").split("\n").includes(runId); // git fails if the run's base is gone: then it is unknown
}

/** Compared with HEAD: changed or new files, and deleted files of the runner's own. */
async function readChanges(
  repository: Repository,
  call: PagesGitContext,
  { owned }: PagesInput,
  pages: readonly Pages[],
): Promise<readonly TreeChange[]> {
  const isPage = compileOwnedPaths(owned);
  const isWanted = (path: BytePath): boolean =>
    isPage(displayPath(path)) && pages.some(({ folder }) => path.startsWith(`${folder}/`));
  const folders = openTreeFolders(call);
  const headEntries = new Map<BytePath, TreeEntry>();

  for (const { folder } of pages) {
    for await (const [path, entry] of folders.listFilesBelow(
      repository.head.tree,
      bytePathFromText(folder),
    )) {
      if (isWanted(path)) headEntries.set(path, entry);
    }
  }

  const files = pages.flatMap((page) => [...page.files]).filter(([path]) => isPage(path));
  const ignored = await findIgnored(
    repository,
    files.map(([path]) => path),
  );

  const changes: TreeChange[] = [];
  for (const [name, content] of files) {
    if (ignored.has(name)) continue; // P2
    const path = bytePathFromText(name);

    const sha = await readGitLine({
      ...call,
      args: ["hash-object", "-w", "--no-filters", "--stdin"],
      input: [content],
    });

    const entry = { mode: headEntries.get(path)?.mode === "100755" ? "100755" : "100644", sha };
    if (!isSameEntry(headEntries.get(path) ?? null, entry)) changes.push([path, entry]);
  }

  const deletedPaths = [...headEntries.keys()].filter(
    (path) => lstatSync(toDiskPath(repository.root, path), { throwIfNoEntry: false }) === undefined,
  );
  return [...changes, ...deletedPaths.map((path) => [path, null] as const)];
}

/**
 * Those of these paths that the user's rules ignore. A tracked file never counts, even if a pattern
 * matches it.
 */
async function findIgnored(
  repository: Repository,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  const input = paths.map((path) => Buffer.from(`${path}\0`));
  const { out } = await git({
    ...(await openUserView(repository)),
    args: ["check-ignore", "-z", "--stdin"],
    input,
    acceptedExitCodes: [0, 1],
  });
  return new Set(out.toString("utf8").split("\0"));
}

/** The changes that put these paths back to what HEAD has. */
async function readHeadEntries(
  call: PagesGitContext,
  head: GitSha,
  changes: readonly TreeChange[],
): Promise<readonly TreeChange[]> {
  const [tree, folders] = [await resolveTree(call, head), openTreeFolders(call)];
  return Promise.all(
    changes.map(async ([path]): Promise<TreeChange> => {
      const entry = await folders.findEntry(tree, path);
      return [path, entry === undefined || isTree(entry) ? null : entry];
    }),
  );
}

/** Updates the user's index with these files; false if another git is using it. */
async function updateIndex(
  call: PagesGitContext,
  { head }: Repository,
  changes: readonly TreeChange[],
): Promise<boolean> {
  const zeroSha = "0".repeat(head.commit.length);
  const input = changes.map(([path, entry]) =>
    Buffer.concat([
      Buffer.from(`${entry?.mode ?? "0"} ${entry?.sha ?? zeroSha}\t`),
      bytePathToBytes(path),
      Buffer.from([0]),
    ]),
  );

  return (
    (
      await git({
        ...call,
        args: ["update-index", "-z", "--index-info"],
        input,
        acceptedExitCodes: [0, 128],
      })
    ).code === 0
  );
}
