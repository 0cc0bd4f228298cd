// embedded-repository: finds changes that would make a folder of the tree a git repository, even
// without the name `.git`, or change the settings of one. Such changes are refused.
//
// Git takes a folder for a repository if it has a valid HEAD, and `objects` and `refs` there or
// where its `commondir` says; then it runs what the folder's `config` says (`core.fsmonitor`) when
// a user types `git status` in it.
//
// Invariants:
//   M1. A folder with a valid HEAD is a repository, or is missing only one folder (an ignored one,
//       or one that a build creates), so nothing in it can be changed, and no such HEAD can be
//       created. It does not matter whether HEAD came before the rest or after it.
//   M2. If a HEAD is beside a `commondir`, the rest may be elsewhere: then `objects` and `refs` are
//       enough.
//   M3. Names are compared as the laxest file system would: without case, without what HFS+ ignores
//       and NTFS strips.

import type { Violation } from "../../ports/workspace.ts";
import {
  listParentFolders,
  displayPath,
  bytePathToText,
  splitLastPart,
  type BytePath,
} from "../git/byte-path.ts";
import type { LayerChange } from "./judge-layer.ts";
import { isModulesName, toPlainName } from "../git/confusable-names.ts";
import type { TreeEntry } from "../git/tree.ts";

export type EmbeddedInput = {
  /** The tree with the changes: at least the entries around them and around every `commondir`. */
  readonly result: ReadonlyMap<BytePath, TreeEntry>;
  readonly changes: readonly LayerChange[];
  /** The beginning of a HEAD of the result. */
  readonly readHead: (path: BytePath, entry: TreeEntry) => Promise<Buffer>;
};

export const headBytesMax = 512;

/** Whether git accepts this as a HEAD, as its function `validate_headref` decides. */
const isValidHead = (bytes: Buffer, isLink: boolean): boolean =>
  (isLink ? /^refs\// : /^(?:ref:\s*refs\/|[0-9a-f]{40})/i).test(
    bytes.toString("latin1", 0, headBytesMax),
  );

/** The changes inside a repository of the tree, or to its list of submodules. */
export async function findEmbeddedRepositories({
  result,
  changes,
  readHead,
}: EmbeddedInput): Promise<readonly Violation[]> {
  const heads = [...result].filter(([path]) => toComparableName(path) === "head");
  const repositories = new Map<BytePath, string>();

  for (const [path, entry] of heads) {
    if (isValidHead(await readHead(path, entry), entry.mode === "120000")) {
      repositories.set(toFolder(path), "it holds a HEAD");
    } // M1
  }

  const hasCommonDir = [...result.keys()].some(
    (path) => toComparableName(path) === "commondir" && repositories.has(toFolder(path)),
  );
  for (const folder of hasCommonDir ? findFoldersWithObjectsAndRefs(result.keys()) : []) {
    if (!repositories.has(folder)) {
      repositories.set(
        folder,
        "it holds objects and refs, and another folder has a HEAD and a commondir",
      );
    }
  } // M2

  return changes.flatMap(({ path, after }): Violation[] => {
    const shownPath = displayPath(path);
    if (after !== null && toFolder(path) === "" && isModulesName(shownPath)) {
      return [
        {
          path: shownPath,
          kind: "git_metadata",
          detail: "git runs what this file says about submodules, so only a person changes it",
        },
      ];
    }

    const repository = ["" as BytePath, ...listParentFolders(path)].find((folder) =>
      repositories.has(folder),
    );
    if (repository === undefined) return [];
    const where = repository === "" ? "the top of the tree" : displayPath(repository);
    const detail = `git would take ${where} for a repository: ${repositories.get(repository) ?? ""}`;

    return [{ path: shownPath, kind: "nested_repository", detail }];
  });
}

function findFoldersWithObjectsAndRefs(paths: Iterable<BytePath>): readonly BytePath[] {
  const parts = new Map<BytePath, Set<string>>();
  for (const path of paths) {
    for (const prefix of [...listParentFolders(path), path]) {
      const name = toComparableName(prefix);
      if (name === "objects" || name === "refs") {
        parts.set(toFolder(prefix), (parts.get(toFolder(prefix)) ?? new Set()).add(name));
      }
    }
  }

  return [...parts].filter(([, names]) => names.size === 2).map(([folder]) => folder);
}

const toFolder = (path: BytePath): BytePath => splitLastPart(path)[0];

/**
 * The name of a path's last part, for comparison (M3). A name of ASCII letters only needs no
 * careful conversion.
 */
export function toComparableName(path: BytePath): string {
  const [, name] = splitLastPart(path);
  return /^[a-z]*$/i.test(name) ? name.toLowerCase() : toPlainName(bytePathToText(name) ?? name);
}
