// objects: puts the content of changed files into a repository as blobs, one git process for all of them, read by the safe road at the moment it is stored.

import { NotRead } from "../layers/fd-walk.ts";
import { WorkspaceFailed } from "../failure.ts";
import { git, type GitCall } from "./git.ts";
import type { Change } from "../layers/judge.ts";
import { contentOf } from "../layers/scan.ts";
import type { ObjectFormat } from "./tree.ts";

/** Stores what the changes hold; throws workspace_changed where a file is no longer what was judged. */
export async function storeBlobs(
  call: Omit<GitCall, "args">,
  format: ObjectFormat,
  folder: string,
  changes: readonly Change[],
  bytesMax: number,
): Promise<void> {
  if (changes.every(({ after }) => after === null)) return;
  await git({ ...call, args: ["fast-import", "--quiet", "--done"], input: blobsOf(format, folder, changes, bytesMax) });
}

function* blobsOf(format: ObjectFormat, folder: string, changes: readonly Change[], bytesMax: number): Generator<Buffer> {
  for (const { path, after } of changes) {
    if (after === null) continue;
    let content: Buffer;
    try {
      content = contentOf(folder, format, path, after, bytesMax);
    } catch (error) {
      if (!(error instanceof NotRead)) throw error;
      throw new WorkspaceFailed("workspace_changed", `The layer changed while it was being applied: ${error.message}`);
    }
    yield Buffer.from(`blob\ndata ${content.length}\n`);
    yield content;
    yield Buffer.from("\n");
  }
  yield Buffer.from("done\n");
}
