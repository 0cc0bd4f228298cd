// examine: reads the folder of an attempt (a layer) or of a check (a checkout) and returns how it
// differs from the commit it was made from.

import { lstatSync } from "node:fs";
import { basename } from "node:path";
import type { AttemptId, GitSha } from "../../contracts/ids.ts";
import { invariant } from "../../kit/invariant.ts";
import { displayPath, type BytePath, toDiskPath } from "../git/byte-path.ts";
import {
  findEmbeddedRepositories,
  headBytesMax,
  type EmbeddedInput,
} from "./embedded-repository.ts";
import { NotRead } from "./fd-walk.ts";
import { openIgnoreRules } from "../git/ignore-rules.ts";
import { judgeLayer, type Judgement } from "./judge-layer.ts";
import { layerFolder } from "./layer.ts";
import type { FolderRecord } from "./folder-records.ts";
import type { RunWorkspace } from "../run-workspace.ts";
import { readScannedContent, scanLayer, type ScanResult, type ScanInput } from "./scan-layer.ts";
import { readObject } from "../git/object-reader.ts";
import { readChangeSurroundings } from "../git/change-surroundings.ts";
import { compileMasks, type PathTest, compileScope } from "./scope-globs.ts";
import { findSecrets } from "./secrets-in-changes.ts";
import { withStoredContent } from "./stored-content.ts";
import { readTree } from "../git/read-tree.ts";
import {
  type ObjectFormat,
  computeObjectHash,
  gitlinkMode,
  resolveTree,
  type Tree,
} from "../git/tree.ts";
import { editTree, type TreeChange, openTreeFolders } from "../git/tree-folders.ts";
import { type ReadBack, readBack } from "../checkouts/read-back.ts";
import { readListing } from "../checkouts/stat-listing.ts";
import { findCheckoutPlace, checkoutPlacePath } from "../checkouts/checkout-place.ts";

export type Examined = Judgement & {
  readonly folder: string;
  readonly record: FolderRecord;
  readonly base: Tree;
  readonly tree: GitSha;
  /**
   * How many changed paths are not applied: ignored ones, without the dependency folders we put
   * there, and those left out.
   */
  readonly ignored: number;
  /** Existing dependency folders, ours and the agent's. */
  readonly dependencies: readonly string[];
};

/** What an attempt changed in its layer, judged, and searched for secrets. */
export async function examineLayer(run: RunWorkspace, attempt: AttemptId): Promise<Examined> {
  const record = await run.layers.read(attempt);
  invariant(record !== null, "a layer is opened before it is examined");
  const isKept = record.keeps === undefined ? null : compileScope(record.keeps);
  const isLeftOut: PathTest = (path) =>
    run.isPlaybookOwned(path) || (isKept !== null && !isKept(path));
  await run.collect(layerFolder(run, attempt));
  await run.checkouts.restoreLowers(layerFolder(run, attempt), async () =>
    run.checkouts.packagesFor(
      record.tree ?? record.base,
      run.packagesRoot,
      await run.findDependencyFolders(run.dependencies),
    ),
  );

  const examined = await examine(run, record, {
    folder: layerFolder(run, attempt),
    reference: record.base,
    isOwned: run.isOwned,
    isLeftOut,
  });
  // The attempt is discarded, and the next one gets new bases. For a checkout this is left to
  // `requireIntact`, which must still notice it.
  if (examined.violations.some(({ kind }) => kind === "damaged_base")) {
    await run.checkouts.distrust();
  }

  // A file that is too large is never committed, so it need not be searched for secrets.
  const tooLarge = new Set(
    examined.violations.filter(({ kind }) => kind === "too_large").map(({ path }) => path),
  );

  const changes = examined.changes.filter(({ path }) => !tooLarge.has(displayPath(path)));
  const secrets = await findSecrets(run, { folder: examined.folder, base: record.base, changes });
  return secrets.length === 0
    ? examined
    : { ...examined, violations: [...examined.violations, ...secrets] };
}

/**
 * What differs in a checkout. It has the whole tree it was made of, including the runner's own
 * files, and nothing in it is masked.
 */
export const examineCheckout = (
  run: RunWorkspace,
  record: FolderRecord,
  folder: string,
): Promise<Examined> =>
  examine(run, record, {
    folder,
    reference: record.tree ?? record.base,
    isOwned: matchNothing,
    isLeftOut: matchNothing,
  });

/**
 * The files of a checkout's tree that were written to, whatever their content now: in a view the
 * kernel copied them, in a copy their times show it.
 */
export async function findTouchedFiles(
  run: RunWorkspace,
  record: FolderRecord,
  folder: string,
): Promise<readonly BytePath[]> {
  const { call, format } = run.shadow;
  const tree = await resolveTree(call, record.tree ?? record.base);

  if (record.isView === true) {
    const request = {
      format,
      isOwned: matchNothing,
      findIgnored: () => Promise.resolve(new Set<BytePath>()),
      fileBytesMax: run.fileBytesMax,
    };

    const place = findCheckoutPlace(run.runDir, folder);
    return [
      ...(
        await readBack({
          ...request,
          place,
          folder,
          tree,
          reference: tree,
          folders: openTreeFolders(call),
        })
      ).base.keys(),
    ];
  }

  const isUnchanged = await readListing(checkoutPlacePath(run.runDir, folder));
  if (isUnchanged === null) return []; // nothing was recorded, so nothing can be said
  const touched: BytePath[] = [];

  for (const [path, { mode }] of await readTree(call, tree)) {
    const stat = lstatSync(toDiskPath(folder, path), { throwIfNoEntry: false });
    if (mode !== gitlinkMode && (stat === undefined || !isUnchanged(path, stat))) {
      touched.push(path);
    }
  }

  return touched;
}

const matchNothing: PathTest = () => false;

type ExamineOptions = {
  readonly folder: string;
  /** The commit or tree to compare with. */
  readonly reference: GitSha;
  readonly isOwned: PathTest;
  readonly isLeftOut: PathTest;
};

async function examine(
  run: RunWorkspace,
  record: FolderRecord,
  options: ExamineOptions,
): Promise<Examined> {
  const { folder, reference, isOwned, isLeftOut } = options;
  const { inScope, fileBytesMax, shadow } = run;
  const { call, format } = shadow;
  const tree = await resolveTree(call, reference);
  const folders = openTreeFolders(call);
  const scanResult = await scanFolder(run, record, options);
  const { base, ignored } = scanResult;

  const scanned = await withStoredContent({
    shadow,
    folder,
    tree,
    base,
    folders,
    scanned: scanResult.scanned,
    fileBytesMax,
  });

  const isMasked = compileMasks(record.masks);
  const judgement = judgeLayer({
    ...scanResult,
    scanned,
    inScope,
    isOwned,
    isMasked,
    isLeftOut,
    fileBytesMax,
  });
  const surroundings = await readChangeSurroundings(call, folders, tree, judgement.changes);
  const readHead = createHeadReader(run, folder, judgement.changes);

  const embedded = await findEmbeddedRepositories({
    result: surroundings,
    changes: judgement.changes,
    readHead,
  });

  const changes = [...judgement.changes, ...judgement.leftOut].map(
    ({ path, after }): TreeChange => [
      path,
      after === null ? null : { mode: after.mode, sha: after.sha },
    ],
  );

  const ignoredPaths = ignored.map(toIgnoredName);
  return {
    ...judgement,
    violations: [...judgement.violations, ...embedded],
    folder,
    record,
    base,
    tree: await editTree({ folders, format }, tree, [
      ...changes,
      ...toUnstorableChanges(format, scanned),
    ]),
    ignored:
      ignoredPaths.filter((path) => !record.dependencies.includes(path)).length +
      judgement.leftOut.length,
    dependencies: ignoredPaths.filter((path) => run.dependencies.includes(basename(path))),
  };
}

/**
 * Lists what is in the folder and differs from the tree to compare with: in a view what was
 * written, in a copy by reading its files.
 */
async function scanFolder(
  run: RunWorkspace,
  record: FolderRecord,
  { folder, reference, isOwned }: ExamineOptions,
): Promise<ReadBack | (ScanResult & Pick<ScanInput, "base">)> {
  const { shadow, fileBytesMax } = run;
  const { call, format } = shadow;
  const folders = openTreeFolders(call);

  const findIgnored = openIgnoreRules(
    shadow,
    folders,
    await resolveTree(call, record.base),
    run.folders.rules,
  );

  const request = { format, isOwned, findIgnored, fileBytesMax };
  if (record.isView !== true) {
    const unchangedTest = await openUnchangedTest(run, folder, record, reference);
    const base = await readTree(call, reference);
    return { ...(await scanLayer({ ...request, ...unchangedTest, root: folder, base })), base };
  }

  return readBack({
    ...request,
    place: findCheckoutPlace(run.runDir, folder),
    folder,
    tree: await resolveTree(call, record.tree ?? reference),
    reference: await resolveTree(call, reference),
    folders,
  });
}

/**
 * Returns a function that reads a file named HEAD: from the folder if it was changed there, else
 * from the repository. A file that can't be read counts as a valid HEAD, the worst case.
 */
function createHeadReader(
  run: RunWorkspace,
  folder: string,
  changes: Examined["changes"],
): EmbeddedInput["readHead"] {
  const worstCase = Buffer.from("ref: refs/");
  const { call, format } = run.shadow;
  return async (path, entry) => {
    const after = changes.find((change) => change.path === path)?.after;
    if (after?.sha !== entry.sha) {
      return (await readObject(call, entry.sha, headBytesMax))?.content ?? worstCase;
    } // a HEAD is short

    try {
      return readScannedContent({ root: folder, format, bytesMax: run.fileBytesMax }, path, after);
    } catch (error) {
      if (error instanceof NotRead) return worstCase;
      throw error;
    }
  };
}

/**
 * Entries that git cannot store are part of the layer's hash too, but for the root: each as a file
 * with its violation's name as content.
 */
const toUnstorableChanges = (
  format: ObjectFormat,
  scanned: ScanResult["scanned"],
): readonly TreeChange[] =>
  [...scanned].flatMap(([path, entry]) =>
    entry.kind === "unstorable" && path !== ""
      ? [
          [
            path,
            {
              mode: "100644",
              sha: computeObjectHash(format, "blob", Buffer.from(entry.violation)),
            },
          ] as const,
        ]
      : [],
  );

/**
 * The recorded stat data of a copy, if it is compared with the tree it was made of: they are valid
 * for no other.
 */
async function openUnchangedTest(
  run: RunWorkspace,
  folder: string,
  { tree }: FolderRecord,
  reference: GitSha,
): Promise<Pick<ScanInput, "isUnchanged">> {
  const { call } = run.shadow;
  if (
    tree === undefined ||
    (await resolveTree(call, tree)) !== (await resolveTree(call, reference))
  ) {
    return {};
  }

  const isUnchanged = await readListing(checkoutPlacePath(run.runDir, folder));
  return isUnchanged === null ? {} : { isUnchanged };
}

/** An ignored path as text; folders lose their trailing slash. */
const toIgnoredName = (path: BytePath): string => displayPath(path).replace(/\/$/, "");
