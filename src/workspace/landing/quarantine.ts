// quarantine: saves what an attempt did as a patch beside the journal, then removes its layer.

import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { AttemptId } from "../../contracts/ids.ts";
import { examineLayer, type Examined } from "../layers/examine.ts";
import { WorkspaceFailed } from "../failure.ts";
import { writeFileAtomically } from "../folder.ts";
import { git } from "../git/git.ts";
import { displayPath } from "../git/byte-path.ts";
import { layerFolder } from "../layers/layer.ts";
import { writeTree } from "../git/materialize.ts";
import { storeBlobs } from "../git/store-blobs.ts";
import { toSlug } from "../layers/folder-records.ts";
import type { RunWorkspace } from "../run-workspace.ts";

const patchBytesMax = 20 * 1024 ** 2;
const headerLinesMax = 500;

export const discardedFolder = "aside";

/**
 * Where the patches of an attempt's discarded tries are, and a test for the names of its files
 * there.
 */
export function findDiscardedPatches(
  runDir: string,
  attempt: AttemptId,
): { readonly folder: string; readonly isPatchName: (name: string) => boolean } {
  const slug = toSlug(attempt);
  return {
    folder: join(runDir, discardedFolder),
    isPatchName: (name) => name.startsWith(`${slug}-`) && name.endsWith(".patch"),
  };
}

/** Saves an attempt's changes as a patch, and removes its layer. */
export async function quarantineLayer(run: RunWorkspace, attempt: AttemptId): Promise<void> {
  if ((await run.layers.read(attempt)) !== null) await savePatch(run, attempt);
  await run.layers.remove(attempt);
  await run.checkouts.drop(layerFolder(run, attempt));
}

async function savePatch(run: RunWorkspace, attempt: AttemptId): Promise<void> {
  const examined = await examineLayer(run, attempt);
  if (examined.changes.length === 0 && examined.violations.length === 0) return;
  await mkdir(run.folders.quarantine, { recursive: true, mode: 0o700 });
  const { folder, isPatchName } = findDiscardedPatches(run.runDir, attempt);
  const patchCount = (await readdir(folder)).filter(isPatchName).length;
  await writeFileAtomically(
    join(folder, `${toSlug(attempt)}-${patchCount + 1}.patch`),
    run.redact(Buffer.concat([composeHeader(attempt, examined), await createDiff(run, examined)])),
  );
}

/**
 * Says what the patch is. Lines before the first `diff` are skipped by every tool that applies
 * patches.
 */
function composeHeader(attempt: AttemptId, { record, changes, violations }: Examined): Buffer {
  const lines = [
    `Attempt ${JSON.stringify(attempt)}, set aside; made on ${record.base}.`,
    ...violations
      .slice(0, headerLinesMax)
      .map(({ path, kind, detail }) => `violation ${kind} ${JSON.stringify(path)}: ${detail}`),
    ...changes
      .slice(0, headerLinesMax)
      .map((change) => `${toChangeVerb(change)} ${JSON.stringify(displayPath(change.path))}`),
    ...listLeftOut("violations", violations.length),
    ...listLeftOut("changes", changes.length),
  ];

  return Buffer.from(`${lines.join("\n")}\n\n`);
}

const listLeftOut = (noun: string, count: number): readonly string[] =>
  count > headerLinesMax ? [`and ${count - headerLinesMax} more ${noun}`] : [];

function toChangeVerb({ before, after }: Examined["changes"][number]): string {
  if (after === null) return "deleted";
  return before === null ? "created" : "changed";
}

/** The attempt's changes as a patch, without files that are too large or have a secret in them. */
async function createDiff(run: RunWorkspace, examined: Examined): Promise<Buffer> {
  // A file with a secret in it is kept in no form: in an object or a binary patch it would not be
  // recognised any more.
  const excludedPaths = new Set(
    examined.violations
      .filter(({ kind }) => kind === "too_large" || kind === "secret")
      .map(({ path }) => path),
  );

  const keptChanges = examined.changes.filter(({ path }) => !excludedPaths.has(displayPath(path)));
  if (keptChanges.length === 0) return Buffer.alloc(0);
  try {
    const { call, format } = run.shadow;
    await storeBlobs(call, {
      folder: examined.folder,
      format,
      changes: keptChanges,
      bytesMax: run.fileBytesMax,
    });

    const tree = await writeTree(
      run.shadow,
      run.shadow.call,
      examined.record.base,
      keptChanges.map(({ path, after }) => [path, after]),
    );
    const args = [
      "diff-tree",
      "-r",
      "-p",
      "--binary",
      "--full-index",
      "--no-renames",
      "--no-ext-diff",
      "--no-textconv",
      examined.record.base,
      tree,
      "--",
    ];

    const { out, isCut } = await git({ ...run.shadow.call, args, outputBytesMax: patchBytesMax });
    return isCut
      ? Buffer.concat([
          out,
          Buffer.from(`\nThe diff has more than ${patchBytesMax} bytes; the rest is left out.\n`),
        ])
      : out;
  } catch (error) {
    // The patch is a courtesy; a layer that still changes must not keep a run from continuing.
    if (error instanceof WorkspaceFailed && error.reason !== "disk_full") {
      return Buffer.from(`The diff could not be made: ${error.message}\n`);
    }

    throw error;
  }
}
