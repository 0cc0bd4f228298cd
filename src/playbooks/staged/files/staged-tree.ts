// staged-tree: reads the documents of a staged project in the user's checkout. Executes nothing.
//
// Invariants:
//   D1. A file counts only if it is a regular file inside `_docs/`, reached without a link.
//   D2. The number of inspected entries is limited, and the search for source stops at the first
//       match.

import { lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { stagedStatePath } from "../../../contracts/staged-state.ts";
import type { GateFacts } from "../../../verify/gates/gate-facts.ts";
import { openMatcher } from "../../../verify/gates/pattern.ts";
import { listTree, createTextReader, ignoredFolders } from "../../../verify/gates/tree-facts.ts";
import type { TreeView } from "../steps/tree-view.ts";

export type StagedTree = {
  readonly view: TreeView;
  readonly facts: GateFacts;
  /** Whether `_docs/` holds anything but the state file. */
  readonly hasDocuments: boolean;
  /** Whether a folder of `_docs/` holds a file. */
  readonly has: (folder: string) => boolean;
};

const docsFolder = "_docs";
const sourceNames =
  /\.(?:py|cs|rs|ts|go|java|csproj)$|^(?:Cargo\.toml|package\.json|go\.mod|pom\.xml)$/;
const entriesMax = 50_000;
const docsDepthMax = 32;
const sourceDepthMax = 8;

export async function readStagedTree(root: string): Promise<StagedTree> {
  const folder = join(root, docsFolder);
  const exists = lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true; // D1
  const listing = await listTree(exists ? folder : [], { entriesMax, depthMax: docsDepthMax });
  const readContent = createTextReader(listing);
  const relativePath = (path: string): string => path.slice(docsFolder.length + 1);
  const files = new Map(
    [...listing.entries].map(([path, entry]) => [`${docsFolder}/${path}`, entry]),
  );
  const paths = [...files].filter(([, { kind }]) => kind === "file").map(([path]) => path);
  const read: GateFacts["read"] = (path) =>
    path.startsWith(`${docsFolder}/`) ? readContent(relativePath(path)) : null;

  return {
    view: {
      paths,
      read: (path) => {
        const content = read(path);
        return Promise.resolve(
          content === null || !content.isWhole || content.fault !== undefined ? null : content.text,
        );
      },
    },
    facts: {
      files,
      isWhole: listing.isWhole,
      read,
      match: openMatcher(),
      changed: new Set(),
      isNewer: () => null, // the order of changes is unknown in a checkout
      commandResult: () => ({ hasPassed: false, ending: "not run" }), // detecting a project's step executes nothing
    },
    hasDocuments: paths.some((path) => path !== stagedStatePath),
    has: (name) => paths.some((path) => path.startsWith(`${docsFolder}/${name}/`)),
  };
}

/** The first source file or folder, searched level by level; null if there is none. */
export async function findSource(root: string): Promise<string | null> {
  let entriesSeen = 0;
  const queue = [""];
  for (let folder = queue.shift(); folder !== undefined; folder = queue.shift()) {
    const items = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []); // a folder that cannot be read has none
    for (const item of items.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (++entriesSeen > entriesMax) return null; // D2
      const path = folder === "" ? item.name : `${folder}/${item.name}`;
      if (item.isFile() && sourceNames.test(item.name)) return path;
      if (
        !item.isDirectory() ||
        item.name.startsWith(".") ||
        ignoredFolders.includes(item.name) ||
        path === docsFolder
      ) {
        continue;
      }

      if (path === "src") return "src/";
      if (path.split("/").length < sourceDepthMax) queue.push(path);
    }
  }

  return null;
}
