// examine: looks at a layer or a checkout as it lies there and says how it differs from the commit it was made from.

import { basename } from "node:path";
import type { AttemptId, GitSha } from "../contracts/ids.ts";
import { invariant } from "../kit/invariant.ts";
import { shownOf, type BytePath } from "./byte-path.ts";
import { embeddedRepositories, type EmbeddedOrder } from "./embedded-repository.ts";
import { NotRead } from "./fd-walk.ts";
import { git } from "./git.ts";
import { ignoredBy } from "./ignore.ts";
import { judge, resultOf, type Judgement } from "./judge.ts";
import { layerFolder } from "./layer.ts";
import type { FolderRecord } from "./records.ts";
import type { OpenRun } from "./run.ts";
import { contentOf, scan } from "./scan.ts";
import { masksOf, type PathTest, scopeOf } from "./scope.ts";
import { secretsOf } from "./secrets.ts";
import { objectHash, readTree, treeHash, type Tree } from "./tree.ts";

export type Examined = Judgement & {
  readonly folder: string;
  readonly record: FolderRecord;
  readonly base: Tree;
  readonly tree: GitSha;
  /** Changed paths that are left where they are: ignored ones beyond the dependency folders we put there, and those left out. */
  readonly ignored: number;
  /** Dependency folders that lie there now, ours and the agent's. */
  readonly dependencies: readonly string[];
};

export async function examineLayer(run: OpenRun, attempt: AttemptId): Promise<Examined> {
  const record = await run.layers.read(attempt);
  invariant(record !== null, "a layer is opened before it is examined");
  const isKept = record.keeps === undefined ? null : scopeOf(record.keeps);
  const isLeftOut: PathTest = (path) => run.isShownIn(path) || (isKept !== null && !isKept(path));
  const examined = await examine(run, record, layerFolder(run, attempt), run.isOwned, isLeftOut);
  const tooLarge = new Set(examined.violations.filter(({ kind }) => kind === "too_large").map(({ path }) => path)); // never committed, so not read
  const changes = examined.changes.filter(({ path }) => !tooLarge.has(shownOf(path)));
  const secrets = await secretsOf(run, { folder: examined.folder, base: record.base, changes });
  return secrets.length === 0 ? examined : { ...examined, violations: [...examined.violations, ...secrets] };
}

/** A checkout holds the whole commit, the runner's own files included, and nothing in it is kept from anyone. */
export const examineCheckout = (run: OpenRun, record: FolderRecord, folder: string): Promise<Examined> =>
  examine(run, record, folder, none, none);

const none: PathTest = () => false;
const headBytesMax = 512;

async function examine(run: OpenRun, record: FolderRecord, folder: string, isOwned: PathTest, isLeftOut: PathTest): Promise<Examined> {
  const base = await readTree(run.shadow.call, record.base);
  const ignoredOf = ignoredBy(run.shadow, record.base, base, run.folders.rules);
  const { found, ignored } = await scan({
    root: folder,
    format: run.shadow.format,
    base,
    isOwned,
    ignoredOf,
    fileBytesMax: run.fileBytesMax,
  });
  const { inScope, fileBytesMax } = run;
  const readHead: EmbeddedOrder["readHead"] = async (path, entry) => {
    const call = { ...run.shadow.call, args: ["cat-file", "blob", entry.sha], outputBytesMax: headBytesMax };
    if (base.get(path)?.sha === entry.sha) return (await git(call)).out;
    try {
      const kind = entry.mode === "120000" ? "link" : "file";
      return contentOf(folder, run.shadow.format, path, { kind, sha: entry.sha }, fileBytesMax);
    } catch (error) {
      if (error instanceof NotRead) return Buffer.from("ref: refs/"); // what cannot be read again is taken for the worst
      throw error;
    }
  };
  const judged = judge({ base, found, inScope, isOwned, isMasked: masksOf(record.masks), isLeftOut, fileBytesMax });
  const result = resultOf(base, [...judged.changes, ...judged.leftOut]);
  const embedded = await embeddedRepositories({ result: resultOf(base, judged.changes), changes: judged.changes, readHead });
  // What git cannot hold still makes the content another one, so it has a place in the name.
  for (const [path, what] of found) {
    if (what.kind === "odd" && path !== "")
      result.set(path, { mode: "100644", sha: objectHash(run.shadow.format, "blob", Buffer.from(what.violation)) });
  }
  const folders = ignored.map(nameOf);
  return {
    ...judged,
    violations: [...judged.violations, ...embedded],
    folder,
    record,
    base,
    tree: treeHash(run.shadow.format, result),
    ignored: folders.filter((path) => !record.dependencies.includes(path)).length + judged.leftOut.length,
    dependencies: folders.filter((path) => run.dependencies.includes(basename(path))),
  };
}

const nameOf = (path: BytePath): string => shownOf(path).replace(/\/$/, "");
