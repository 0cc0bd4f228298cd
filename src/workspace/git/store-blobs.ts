// store-blobs: stores the content of changed files in a repository as blobs. Each file is read
// safely (fd-walk.ts) when it is stored. A few blobs are written here, many by one git process.

import { NotRead } from "../layers/fd-walk.ts";
import { WorkspaceFailed } from "../failure.ts";
import { git } from "./git.ts";
import type { GitContext } from "./safe-git-call.ts";
import type { LayerChange } from "../layers/judge-layer.ts";
import { readScannedContent } from "../layers/scan-layer.ts";
import { displayPath } from "./byte-path.ts";
import { areFewObjects, writeObject } from "./loose-objects.ts";
import { readObject } from "./object-reader.ts";
import type { ObjectFormat } from "./tree.ts";

/** Changes of a layer, and how its files are read. */
export type BlobSource = {
  readonly folder: string;
  readonly format: ObjectFormat;
  readonly changes: readonly LayerChange[];
  readonly bytesMax: number;
};

/**
 * Stores the changes' contents; throws workspace_changed if a file is no longer what was judged.
 */
export async function storeBlobs(call: GitContext, source: BlobSource): Promise<void> {
  const { format, changes } = source;
  const fileCount = changes.filter(({ after }) => after !== null).length;
  if (fileCount === 0) return;
  const unconverted = {
    ...source,
    changes: changes.filter(({ after }) => after?.bytesSha === undefined),
  };

  if (areFewObjects(fileCount)) {
    for (const content of readContents(unconverted)) {
      await writeObject(call, format, { type: "blob", content });
    }
  } else {
    await git({
      ...call,
      args: ["fast-import", "--quiet", "--done"],
      input: formatFastImport(unconverted),
    });
  }

  for (const { path, after } of changes) {
    if (after?.bytesSha === undefined) continue;
    const content = (await readObject(call, after.sha))?.content ?? null; // git stored the converted content when it was judged
    if (content === null) {
      throw new WorkspaceFailed(
        "workspace_unusable",
        `What git stores of ${displayPath(path)} is gone.`,
      );
    }

    await writeObject(call, format, { type: "blob", content });
  }
}

/** The files' bytes as they were scanned, one by one. */
function* readContents({ folder, format, changes, bytesMax }: BlobSource): Generator<Buffer> {
  for (const { path, after } of changes) {
    if (after === null) continue;
    try {
      yield readScannedContent({ root: folder, format, bytesMax }, path, after);
    } catch (error) {
      if (!(error instanceof NotRead)) throw error;
      throw new WorkspaceFailed(
        "workspace_changed",
        `The layer changed while it was being applied: ${error.message}`,
      );
    }
  }
}

/** The blobs in the input format of `git fast-import`. */
function* formatFastImport(source: BlobSource): Generator<Buffer> {
  for (const content of readContents(source)) {
    yield Buffer.from(`blob\ndata ${content.length}\n`);
    yield content;
    yield Buffer.from("\n");
  }

  yield Buffer.from("done\n");
}
