// quality-tree: reads the files under quality/ in a commit on demand, within size limits.

import { countLines } from "../../../verify/gates/gate-file.ts";
import type { ArtifactFound } from "../../../contracts/quality-facts.ts";
import type { Workspace } from "../../../ports/workspace.ts";

const textBytesMax = 8 * 1024 * 1024;
const artifactsMax = 500;

/** The folder quality/ in a commit. Only requested files are read. */
export type QualityTree = {
  readonly paths: readonly string[];
  readonly has: (path: string) => boolean;
  readonly matching: (pattern: RegExp) => readonly string[];
  /** Null if there is no such file, it isn't text, or it is too large. */
  readonly text: (path: string) => Promise<string | null>;
  /** The size of each of these that is there, as far as a reader would count them. */
  readonly sized: (paths: readonly string[]) => Promise<readonly ArtifactFound[]>;
};

export async function openQualityTree(workspace: Pick<Workspace, "pathsAt" | "textAt">, commit: string): Promise<QualityTree> {
  const paths = (await workspace.pathsAt(commit)).filter((path) => path.startsWith("quality/"));
  const there = new Set(paths);
  const text = (path: string): Promise<string | null> =>
    there.has(path) ? workspace.textAt(commit, path, textBytesMax) : Promise.resolve(null);
  return {
    paths,
    has: (path) => there.has(path),
    matching: (pattern) => paths.filter((path) => pattern.test(path)),
    text,
    sized: async (wanted) => {
      const found: ArtifactFound[] = [];
      for (const path of wanted.filter((artifact) => there.has(artifact)).slice(0, artifactsMax)) {
        const content = await text(path);
        found.push(content === null ? { path } : { path, bytes: Buffer.byteLength(content), lines: countLines(content) });
      }
      return found;
    },
  };
}
