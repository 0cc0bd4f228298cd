// examine: reads a layer or a checkout and returns how it differs from the commit it was made from.

import { lstatSync } from "node:fs";
import { basename } from "node:path";
import type { AttemptId, GitSha } from "../../contracts/ids.ts";
import { invariant } from "../../kit/invariant.ts";
import { bytePathBytes, displayPath, type BytePath } from "../git/byte-path.ts";
import { embeddedRepositories, type EmbeddedInput } from "./embedded-repository.ts";
import { NotRead } from "./fd-walk.ts";
import { WorkspaceFailed } from "../failure.ts";
import { ignoredBy } from "../git/ignore.ts";
import { judge, type Judgement } from "./judge.ts";
import { layerFolder } from "./layer.ts";
import type { FolderRecord } from "./records.ts";
import type { OpenRun } from "../run.ts";
import { contentOf, scan, type Scan, type ScanInput } from "./scan.ts";
import { readObject } from "../git/object-reader.ts";
import { resultAround } from "../git/result-around.ts";
import { globMasks, type PathTest, globScope } from "./scope.ts";
import { readSecrets } from "./secrets.ts";
import { readTree } from "../git/read-tree.ts";
import { objectHash, treeIdOf, type Tree } from "../git/tree.ts";
import { editTree, type TreeChange, treeFolders } from "../git/tree-folders.ts";
import { readBack } from "../checkouts/read-back.ts";
import { readListing } from "../checkouts/listing.ts";
import { checkoutAt, checkoutPlace } from "../checkouts/checkout-place.ts";

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

export async function examineLayer(run: OpenRun, attempt: AttemptId): Promise<Examined> {
  const record = await run.layers.read(attempt);
  invariant(record !== null, "a layer is opened before it is examined");
  const isKept = record.keeps === undefined ? null : globScope(record.keeps);
  const isLeftOut: PathTest = (path) => run.isShownIn(path) || (isKept !== null && !isKept(path));
  const examined = await examine(run, record, layerFolder(run, attempt), record.base, run.isOwned, isLeftOut);
  const tooLarge = new Set(examined.violations.filter(({ kind }) => kind === "too_large").map(({ path }) => path)); // never committed, so not read
  const changes = examined.changes.filter(({ path }) => !tooLarge.has(displayPath(path)));
  const secrets = await readSecrets(run, { folder: examined.folder, base: record.base, changes });
  return secrets.length === 0 ? examined : { ...examined, violations: [...examined.violations, ...secrets] };
}

/** A checkout has the whole tree it was made of, including the runner's own files, and nothing in it is masked. */
export const examineCheckout = (run: OpenRun, record: FolderRecord, folder: string): Promise<Examined> =>
  examine(run, record, folder, record.tree ?? record.base, none, none);

/**
 * The files of a checkout's tree that were written to, whatever their content now: in a view the kernel copied them, in a copy their times
 * show it.
 */
export async function touchedIn(run: OpenRun, record: FolderRecord, folder: string): Promise<readonly BytePath[]> {
  const { call, format } = run.shadow;
  const tree = await treeIdOf(call, record.tree ?? record.base);
  if (record.isView === true) {
    const order = { format, isOwned: none, ignoredOf: () => Promise.resolve(new Set<BytePath>()), fileBytesMax: run.fileBytesMax };
    const place = placeOf(checkoutAt(run.runDir, folder));
    return [...(await readBack({ ...order, place, folder, tree, against: tree, folders: treeFolders(call) })).base.keys()];
  }
  const isUnchanged = await readListing(checkoutPlace(run.runDir, folder));
  if (isUnchanged === null) return [];
  const touchedBytePaths: BytePath[] = [];
  for (const [path, { mode }] of await readTree(call, tree)) {
    const stat = lstatSync(Buffer.concat([Buffer.from(`${folder}/`), bytePathBytes(path)]), { throwIfNoEntry: false });
    if (mode !== "160000" && (stat === undefined || !isUnchanged(path, stat))) touchedBytePaths.push(path);
  }
  return touchedBytePaths;
}

const none: PathTest = () => false;
const headBytesMax = 512;

async function examine(
  run: OpenRun,
  record: FolderRecord,
  folder: string,
  against: GitSha,
  isOwned: PathTest,
  isLeftOut: PathTest,
): Promise<Examined> {
  const { inScope, fileBytesMax, shadow } = run;
  const { call, format } = shadow;
  const tree = await treeIdOf(call, against);
  const folders = treeFolders(call);
  const ignoredOf = ignoredBy(shadow, folders, await treeIdOf(call, record.base), run.folders.rules);
  const request = { format, isOwned, ignoredOf, fileBytesMax };
  const place = record.isView === true ? checkoutAt(run.runDir, folder) : null;
  const looked =
    record.isView === true
      ? await readBack({
          ...request,
          place: placeOf(place),
          folder,
          tree: await treeIdOf(call, record.tree ?? against),
          against: tree,
          folders,
        })
      : await scanned({
          ...request,
          ...(await unchangedIn(run, folder, record, against)),
          root: folder,
          base: await readTree(call, against),
        });
  const { base, found, ignored } = looked;
  const judged = judge({ ...looked, inScope, isOwned, isMasked: globMasks(record.masks), isLeftOut, fileBytesMax });
  const readHead: EmbeddedInput["readHead"] = async (path, entry) => {
    const after = judged.changes.find((change) => change.path === path)?.after;
    if (after?.sha !== entry.sha) return (await readObject(call, entry.sha, headBytesMax))?.content ?? Buffer.from("ref: refs/"); // a HEAD is short
    try {
      return contentOf(folder, format, path, after, fileBytesMax);
    } catch (error) {
      if (error instanceof NotRead) return Buffer.from("ref: refs/"); // what cannot be read again counts as the worst case
      throw error;
    }
  };
  const result = await resultAround(call, folders, tree, judged.changes);
  const embedded = await embeddedRepositories({ result, changes: judged.changes, readHead });
  // What git cannot store still changes the content, so it is part of the hash.
  const odd = [...found].flatMap(([path, what]) =>
    what.kind === "odd" && path !== ""
      ? [[path, { mode: "100644", sha: objectHash(format, "blob", Buffer.from(what.violation)) }] as const]
      : [],
  );
  const changes = [...judged.changes, ...judged.leftOut].map(({ path, after }): TreeChange => [
    path,
    after === null ? null : { mode: after.mode, sha: after.sha },
  ]);
  const paths = ignored.map(bytePathName);
  return {
    ...judged,
    violations: [...judged.violations, ...embedded],
    folder,
    record,
    base,
    tree: await editTree(folders, format, tree, [...changes, ...odd]),
    ignored: paths.filter((path) => !record.dependencies.includes(path)).length + judged.leftOut.length,
    dependencies: paths.filter((path) => run.dependencies.includes(basename(path))),
  };
}

/** A copy's stat data is valid for the tree it was made of, and for no other. */
async function unchangedIn(run: OpenRun, folder: string, { tree }: FolderRecord, against: GitSha): Promise<Pick<ScanInput, "isUnchanged">> {
  const { call } = run.shadow;
  if (tree === undefined || (await treeIdOf(call, tree)) !== (await treeIdOf(call, against))) return {};
  const isUnchanged = await readListing(checkoutPlace(run.runDir, folder));
  return isUnchanged === null ? {} : { isUnchanged };
}

function placeOf(place: string | null): string {
  if (place === null) throw new WorkspaceFailed("workspace_unusable", "A folder that is a view of a base has lost what lies below it.");
  return place;
}

const scanned = async (input: ScanInput): Promise<Scan & Pick<ScanInput, "base">> => ({ ...(await scan(input)), base: input.base });

const bytePathName = (path: BytePath): string => displayPath(path).replace(/\/$/, "");
