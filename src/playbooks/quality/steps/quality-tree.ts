// quality-tree: reads the files under quality/ in a commit on demand, within size limits.

import { countLines } from "../../../verify/gates/gate-file.ts";
import type { ArtifactSize } from "../../../contracts/quality/quality-facts.ts";
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
  /** The sizes of the existing ones of these files, up to a limit of files. */
  readonly measure: (paths: readonly string[]) => Promise<readonly ArtifactSize[]>;
};

export async function openQualityTree(
  workspace: Pick<Workspace, "pathsAt" | "textAt">,
  commit: string,
): Promise<QualityTree> {
  const paths = (await workspace.pathsAt(commit)).filter((path) => path.startsWith("quality/"));
  const existing = new Set(paths);
  const text = (path: string): Promise<string | null> =>
    existing.has(path) ? workspace.textAt(commit, path, textBytesMax) : Promise.resolve(null);

  return {
    paths,
    has: (path) => existing.has(path),
    matching: (pattern) => paths.filter((path) => pattern.test(path)),
    text,
    measure: async (paths) => {
      const sizes: ArtifactSize[] = [];
      for (const path of paths
        .filter((artifact) => existing.has(artifact))
        .slice(0, artifactsMax)) {
        const content = await text(path);
        sizes.push(
          content === null
            ? { path }
            : { path, bytes: Buffer.byteLength(content), lines: countLines(content) },
        );
      }

      return sizes;
    },
  };
}
