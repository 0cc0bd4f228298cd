// embedded-repository: refuses changes that git would take for a repository, or for the settings of one, without a `.git`.
//
// Git takes a folder for a repository if it has a valid HEAD, and `objects` and `refs` there or where its `commondir` says; then it runs
// what the folder's `config` says (`core.fsmonitor`) when a user types `git status` in it.
//
// Invariants:
//   M1. A folder with a valid HEAD is a repository, or is missing only one folder (an ignored one, or one that a build creates), so nothing
//       in it can be changed, and no such HEAD can be created. It does not matter whether HEAD came before the rest or after it.
//   M2. If a HEAD is beside a `commondir`, the rest may be elsewhere: then `objects` and `refs` are enough.
//   M3. Names are compared as the laxest file system would: without case, without what HFS+ ignores and NTFS strips.

import type { Violation } from "../../ports/workspace.ts";
import { listParentFolders, displayPath, bytePathText, type BytePath } from "../git/byte-path.ts";
import type { Change } from "./judge-layer.ts";
import { isModulesName, toPlainName } from "../git/confusable-names.ts";
import type { TreeEntry } from "../git/tree.ts";

export type EmbeddedInput = {
  /** Of the tree with the changes, at least the surroundings of these and of every `commondir`. */
  readonly result: ReadonlyMap<BytePath, TreeEntry>;
  readonly changes: readonly Change[];
  /** The beginning of a HEAD of the result. */
  readonly readHead: (path: BytePath, entry: TreeEntry) => Promise<Buffer>;
};

/** What git's `validate_headref` accepts. */
const isHead = (bytes: Buffer, isLink: boolean): boolean =>
  (isLink ? /^refs\// : /^(?:ref:\s*refs\/|[0-9a-f]{40})/i).test(bytes.toString("latin1", 0, 512));

export async function findEmbeddedRepositories({ result, changes, readHead }: EmbeddedInput): Promise<readonly Violation[]> {
  const heads = [...result].filter(([path]) => bytePathName(path) === "head");
  const repositories = new Set<BytePath>();
  for (const [path, entry] of heads) {
    if (isHead(await readHead(path, entry), entry.mode === "120000")) repositories.add(bytePathFolder(path)); // M1
  }
  const hasCommonDir = [...result.keys()].some((path) => bytePathName(path) === "commondir" && repositories.has(bytePathFolder(path)));
  if (hasCommonDir) for (const folder of withObjectsAndRefs(result.keys())) repositories.add(folder); // M2
  return changes.flatMap(({ path, after }): Violation[] => {
    const shown = displayPath(path);
    if (after !== null && bytePathFolder(path) === "" && isModulesName(shown))
      return [{ path: shown, kind: "git_metadata", detail: "git runs what this file says about submodules, so only a person changes it" }];
    const repository = ["" as BytePath, ...listParentFolders(path)].find((folder) => repositories.has(folder));
    if (repository === undefined) return [];
    const where = repository === "" ? "the top of the tree" : displayPath(repository);
    return [{ path: shown, kind: "nested_repository", detail: `git would take ${where} for a repository: it holds a HEAD` }];
  });
}

function withObjectsAndRefs(paths: Iterable<BytePath>): readonly BytePath[] {
  const parts = new Map<BytePath, Set<string>>();
  for (const path of paths) {
    for (const prefix of [...listParentFolders(path), path]) {
      const name = bytePathName(prefix);
      if (name === "objects" || name === "refs")
        parts.set(bytePathFolder(prefix), (parts.get(bytePathFolder(prefix)) ?? new Set()).add(name));
    }
  }
  return [...parts].filter(([, names]) => names.size === 2).map(([folder]) => folder);
}

const bytePathFolder = (path: BytePath): BytePath => path.slice(0, Math.max(path.lastIndexOf("/"), 0)) as BytePath;

/** M3. Only a short name, or one that is not plain ASCII, needs a careful comparison. */
export function bytePathName(path: BytePath): string {
  const name = path.slice(path.lastIndexOf("/") + 1) as BytePath;
  return /^[a-z]*$/i.test(name) ? name.toLowerCase() : toPlainName(bytePathText(name) ?? name);
}
