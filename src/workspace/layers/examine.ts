// examine: reads a layer or a checkout and returns how it differs from the commit it was made from.

import { lstatSync } from "node:fs";
import { basename } from "node:path";
import type { AttemptId, GitSha } from "../../contracts/ids.ts";
import { invariant } from "../../kit/invariant.ts";
import { bytePathBytes, displayPath, type BytePath } from "../git/byte-path.ts";
import { findEmbeddedRepositories, type EmbeddedInput } from "./embedded-repository.ts";
import { NotRead } from "./fd-walk.ts";
import { openIgnoreRules } from "../git/ignore-rules.ts";
import { judge, type Judgement } from "./judge-layer.ts";
import { layerFolder } from "./layer.ts";
import type { FolderRecord } from "./folder-records.ts";
import type { RunWorkspace } from "../run-workspace.ts";
import { readScannedContent, scan, type Scan, type ScanInput } from "./scan-layer.ts";
import { readObject } from "../git/object-reader.ts";
import { readChangeSurroundings } from "../git/change-surroundings.ts";
import { compileMasks, type PathTest, compileScope } from "./scope-globs.ts";
import { findSecrets } from "./secrets-in-changes.ts";
import { withStoredContent } from "./stored-content.ts";
import { readTree } from "../git/read-tree.ts";
import { type ObjectFormat, computeObjectHash, resolveTree, type Tree } from "../git/tree.ts";
import { editTree, type TreeChange, openTreeFolders } from "../git/tree-folders.ts";
import { readBack } from "../checkouts/read-back.ts";
import { readListing } from "../checkouts/stat-listing.ts";
import { findCheckoutPlace, checkoutPlacePath } from "../checkouts/checkout-place.ts";

export type Examined = Judgement & {
  readonly folder: string;
  readonly record: FolderRecord;
  readonly base: Tree;
  readonly tree: GitSha;
  /** Changed paths that stay where they are: ignored ones beyond the dependency folders we put there, and those left out. */
  readonly ignored: number;
  /** Existing dependency folders, ours and the agent's. */
  readonly dependencies: readonly string[];
};

export async function examineLayer(run: RunWorkspace, attempt: AttemptId): Promise<Examined> {
  const record = await run.layers.read(attempt);
  invariant(record !== null, "a layer is opened before it is examined");
  const isKept = record.keeps === undefined ? null : compileScope(record.keeps);
  const isLeftOut: PathTest = (path) => run.isPlaybookOwned(path) || (isKept !== null && !isKept(path));
  const { base: against } = record;
  await run.collect(layerFolder(run, attempt));
  await run.checkouts.restoreLowers(layerFolder(run, attempt), async () =>
    run.checkouts.packagesFor(record.tree ?? against, run.packagesRoot, await run.findDependencyFolders(run.dependencies)),
  );
  const examined = await examine(run, record, { folder: layerFolder(run, attempt), against, isOwned: run.isOwned, isLeftOut });
  // The attempt is discarded for it. What a check was shown is left to requireIntact, which must still find it.
  if (examined.violations.some(({ kind }) => kind === "damaged_base")) await run.checkouts.distrust();
  const tooLarge = new Set(examined.violations.filter(({ kind }) => kind === "too_large").map(({ path }) => path)); // never committed, so not read
  const changes = examined.changes.filter(({ path }) => !tooLarge.has(displayPath(path)));
  const secrets = await findSecrets(run, { folder: examined.folder, base: record.base, changes });
  return secrets.length === 0 ? examined : { ...examined, violations: [...examined.violations, ...secrets] };
}

/** A checkout has the whole tree it was made of, including the runner's own files, and nothing in it is masked. */
export const examineCheckout = (run: RunWorkspace, record: FolderRecord, folder: string): Promise<Examined> =>
  examine(run, record, { folder, against: record.tree ?? record.base, isOwned: none, isLeftOut: none });

/**
 * The files of a checkout's tree that were written to, whatever their content now: in a view the kernel copied them, in a copy their times
 * show it.
 */
export async function findTouchedFiles(run: RunWorkspace, record: FolderRecord, folder: string): Promise<readonly BytePath[]> {
  const { call, format } = run.shadow;
  const tree = await resolveTree(call, record.tree ?? record.base);
  if (record.isView === true) {
    const request = { format, isOwned: none, ignoredOf: () => Promise.resolve(new Set<BytePath>()), fileBytesMax: run.fileBytesMax };
    const place = findCheckoutPlace(run.runDir, folder);
    return [...(await readBack({ ...request, place, folder, tree, against: tree, folders: openTreeFolders(call) })).base.keys()];
  }
  const isUnchanged = await readListing(checkoutPlacePath(run.runDir, folder));
  if (isUnchanged === null) return [];
  const touched: BytePath[] = [];
  for (const [path, { mode }] of await readTree(call, tree)) {
    const stat = lstatSync(Buffer.concat([Buffer.from(`${folder}/`), bytePathBytes(path)]), { throwIfNoEntry: false });
    if (mode !== "160000" && (stat === undefined || !isUnchanged(path, stat))) touched.push(path);
  }
  return touched;
}

const none: PathTest = () => false;
const headBytesMax = 512;

type ExamineOptions = {
  readonly folder: string;
  /** The commit or tree to compare with. */
  readonly against: GitSha;
  readonly isOwned: PathTest;
  readonly isLeftOut: PathTest;
};

async function examine(run: RunWorkspace, record: FolderRecord, options: ExamineOptions): Promise<Examined> {
  const { folder, against, isOwned, isLeftOut } = options;
  const { inScope, fileBytesMax, shadow } = run;
  const { call, format } = shadow;
  const tree = await resolveTree(call, against);
  const folders = openTreeFolders(call);
  const ignoredOf = openIgnoreRules(shadow, folders, await resolveTree(call, record.base), run.folders.rules);
  const request = { format, isOwned, ignoredOf, fileBytesMax };
  const place = record.isView === true ? findCheckoutPlace(run.runDir, folder) : null;
  const scanResult =
    record.isView === true
      ? await readBack({
          ...request,
          place,
          folder,
          tree: await resolveTree(call, record.tree ?? against),
          against: tree,
          folders,
        })
      : await scanAgainst({
          ...request,
          ...(await readUnchangedTest(run, folder, record, against)),
          root: folder,
          base: await readTree(call, against),
        });
  const { base, ignored } = scanResult;
  const found = await withStoredContent({ shadow, folder, tree, base, folders, scanned: scanResult.scanned, fileBytesMax });
  const judgement = judge({
    ...scanResult,
    scanned: found,
    inScope,
    isOwned,
    isMasked: compileMasks(record.masks),
    isLeftOut,
    fileBytesMax,
  });
  const surroundings = await readChangeSurroundings(call, folders, tree, judgement.changes);
  const readHead = headReader(run, folder, judgement.changes);
  const embedded = await findEmbeddedRepositories({ result: surroundings, changes: judgement.changes, readHead });
  const changes = [...judgement.changes, ...judgement.leftOut].map(({ path, after }): TreeChange => [
    path,
    after === null ? null : { mode: after.mode, sha: after.sha },
  ]);
  const paths = ignored.map(bytePathName);
  return {
    ...judgement,
    violations: [...judgement.violations, ...embedded],
    folder,
    record,
    base,
    tree: await editTree({ folders, format }, tree, [...changes, ...unstorableChanges(format, found)]),
    ignored: paths.filter((path) => !record.dependencies.includes(path)).length + judgement.leftOut.length,
    dependencies: paths.filter((path) => run.dependencies.includes(basename(path))),
  };
}

/** Reads a file named HEAD: from the folder if it was changed there, else from the repository. What cannot be read counts as the worst case. */
function headReader(run: RunWorkspace, folder: string, changes: Examined["changes"]): EmbeddedInput["readHead"] {
  const worstCase = Buffer.from("ref: refs/");
  const { call, format } = run.shadow;
  return async (path, entry) => {
    const after = changes.find((change) => change.path === path)?.after;
    if (after?.sha !== entry.sha) return (await readObject(call, entry.sha, headBytesMax))?.content ?? worstCase; // a HEAD is short
    try {
      return readScannedContent({ root: folder, format, bytesMax: run.fileBytesMax }, path, after);
    } catch (error) {
      if (error instanceof NotRead) return worstCase;
      throw error;
    }
  };
}

/** What git cannot store still changes the content, so it is part of the hash. */
const unstorableChanges = (format: ObjectFormat, scanned: Scan["scanned"]): readonly TreeChange[] =>
  [...scanned].flatMap(([path, entry]) =>
    entry.kind === "odd" && path !== ""
      ? [[path, { mode: "100644", sha: computeObjectHash(format, "blob", Buffer.from(entry.violation)) }] as const]
      : [],
  );

/** A copy's stat data is valid for the tree it was made of, and for no other. */
async function readUnchangedTest(
  run: RunWorkspace,
  folder: string,
  { tree }: FolderRecord,
  against: GitSha,
): Promise<Pick<ScanInput, "isUnchanged">> {
  const { call } = run.shadow;
  if (tree === undefined || (await resolveTree(call, tree)) !== (await resolveTree(call, against))) return {};
  const isUnchanged = await readListing(checkoutPlacePath(run.runDir, folder));
  return isUnchanged === null ? {} : { isUnchanged };
}

const scanAgainst = async (input: ScanInput): Promise<Scan & Pick<ScanInput, "base">> => ({ ...(await scan(input)), base: input.base });

const bytePathName = (path: BytePath): string => displayPath(path).replace(/\/$/, "");
