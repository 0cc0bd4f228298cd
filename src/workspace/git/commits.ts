// commits: reads commits through the open git, and the path between two if it is short.

import type { GitSha } from "../../contracts/ids.ts";
import { git, type GitCall } from "./git.ts";
import { readObject } from "./object-reader.ts";

export type ReadCommit = {
  readonly commit: GitSha;
  readonly tree: GitSha;
  readonly parents: readonly GitSha[];
  readonly message: string;
};

const commitBytesMax = 1 << 20;
/** A run adds a commit per step; a longer path is left to git. */
const stepsMax = 100;

/** A commit; null if it is missing, of another type, or larger than any that people write. */
export async function readCommit(call: Omit<GitCall, "args">, commit: GitSha): Promise<ReadCommit | null> {
  const object = await readObject(call, commit, commitBytesMax);
  if (object?.type !== "commit" || object.content === null) return null;
  const text = object.content.toString("utf8");
  const end = text.indexOf("\n\n");
  const head = (end === -1 ? text : text.slice(0, end)).split("\n");
  const valuesOf = (key: string): readonly string[] =>
    head.filter((line) => line.startsWith(`${key} `)).map((line) => line.slice(key.length + 1));
  return {
    commit: object.sha,
    tree: valuesOf("tree")[0] ?? "",
    parents: valuesOf("parent"),
    message: end === -1 ? "" : text.slice(end + 2),
  };
}

/** The commits after `from` up to `to`, newest first, if they are a short straight line; null otherwise. */
export async function lineBetween(call: Omit<GitCall, "args">, from: GitSha, to: GitSha): Promise<readonly ReadCommit[] | null> {
  const line: ReadCommit[] = [];
  for (let at = to; at !== from;) {
    const found = line.length < stepsMax ? await readCommit(call, at) : null;
    const [parent, ...others] = found?.parents ?? [];
    if (found === null || parent === undefined || others.length > 0) return null;
    line.push(found);
    at = parent;
  }
  return line;
}

/** Whether one commit is an ancestor of another, or the same. */
export async function isAncestor(call: Omit<GitCall, "args">, older: GitSha, newer: GitSha): Promise<boolean> {
  if ((await lineBetween(call, older, newer)) !== null) return true;
  return (await git({ ...call, args: ["merge-base", "--is-ancestor", older, newer], codes: [0, 1] })).code === 0;
}
