// tree-view: reads the paths and text files of a commit, or of a checkout in the same form.

import type { Workspace } from "../../../ports/workspace.ts";

export type TreeView = {
  readonly paths: readonly string[];
  /** Null if there isn't a regular file of that name, it isn't text, or it is too large. */
  readonly read: (path: string) => Promise<string | null>;
};

const textBytesMax = 1024 * 1024;

export async function viewCommit(
  workspace: Pick<Workspace, "pathsAt" | "textAt">,
  commit: string,
): Promise<TreeView> {
  return {
    paths: await workspace.pathsAt(commit),
    read: (path) => workspace.textAt(commit, path, textBytesMax),
  };
}
