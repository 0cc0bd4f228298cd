// tree-look: a read-only view of a commit's paths and text files.

import type { Workspace } from "../../../ports/workspace.ts";

/** A tree that is only inspected: its paths, and the text of a regular file in it. */
export type TreeLook = {
  readonly paths: readonly string[];
  /** Null if there isn't a regular file of that name, it isn't text, or it is too large. */
  readonly read: (path: string) => Promise<string | null>;
};

const textBytesMax = 1024 * 1024;

/** A commit of the run's branch: the working tree does not count. */
export async function lookAtCommit(workspace: Pick<Workspace, "pathsAt" | "textAt">, commit: string): Promise<TreeLook> {
  return { paths: await workspace.pathsAt(commit), read: (path) => workspace.textAt(commit, path, textBytesMax) };
}
