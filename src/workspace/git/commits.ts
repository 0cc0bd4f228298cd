// commits: reads commit objects, and the commits between two of them, without a process of its own
// for each (object-reader.ts).

import type { GitSha } from "../../contracts/ids.ts";
import { git } from "./git.ts";
import type { GitContext } from "./safe-git-call.ts";
import { readObject } from "./object-reader.ts";

export type CommitObject = {
  readonly commit: GitSha;
  readonly tree: GitSha;
  readonly parents: readonly GitSha[];
  readonly message: string;
};

const commitBytesMax = 1 << 20;
/** A run adds a commit per step; a longer history is left to git. */
const straightLineMax = 100;

/** A commit; null if it is missing, isn't a commit, or is implausibly large. */
export async function readCommit(call: GitContext, commit: GitSha): Promise<CommitObject | null> {
  const object = await readObject(call, commit, commitBytesMax);
  if (object?.type !== "commit" || object.content === null) return null;
  const text = object.content.toString("utf8");
  const end = text.indexOf("\n\n");
  const headerLines = (end === -1 ? text : text.slice(0, end)).split("\n");
  const readHeaderValues = (key: string): readonly string[] =>
    headerLines
      .filter((line) => line.startsWith(`${key} `))
      .map((line) => line.slice(key.length + 1));

  return {
    commit: object.sha,
    tree: readHeaderValues("tree")[0] ?? "",
    parents: readHeaderValues("parent"),
    message: end === -1 ? "" : text.slice(end + 2),
  };
}

/**
 * The last commits up to one, newest first, if they are a straight line; null where branches were
 * merged, or where a commit is missing.
 */
export async function readRecentLine(
  call: GitContext,
  commit: GitSha,
  commitsMax: number,
): Promise<readonly CommitObject[] | null> {
  const commits: CommitObject[] = [];
  for (let next: GitSha | undefined = commit; next !== undefined && commits.length < commitsMax;) {
    const read: CommitObject | null = await readCommit(call, next);
    if (read === null || read.parents.length > 1) return null;
    commits.push(read);
    next = read.parents[0];
  }

  return commits;
}

/**
 * The commits after `from` up to `to`, newest first, if they are a short straight line; null
 * otherwise.
 */
export async function readStraightLine(
  call: GitContext,
  from: GitSha,
  to: GitSha,
): Promise<readonly CommitObject[] | null> {
  const commits: CommitObject[] = [];
  for (let current = to; current !== from;) {
    const commit = commits.length < straightLineMax ? await readCommit(call, current) : null;
    const [parent, ...otherParents] = commit?.parents ?? [];
    if (commit === null || parent === undefined || otherParents.length > 0) return null;
    commits.push(commit);
    current = parent;
  }

  return commits;
}

/** Whether one commit is an ancestor of another, or the same. */
export async function isAncestor(call: GitContext, older: GitSha, newer: GitSha): Promise<boolean> {
  const isOnStraightLine = (await readStraightLine(call, older, newer)) !== null;
  if (isOnStraightLine) return true;

  const args = ["merge-base", "--is-ancestor", older, newer];
  const { code } = await git({ ...call, args, acceptedExitCodes: [0, 1] });
  return code === 0;
}
