// staged-tree: the documents of a staged project as they are in the user's checkout. Nothing is executed to look at them.
//
// Invariants:
//   D1. A file counts only if it is a regular file inside `_docs/`, reached without a link.
//   D2. What is inspected is bounded, and source is looked for only until some is found.

import { lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { stagedStatePath } from "../../../contracts/staged-state.ts";
import type { GateFacts } from "../../../verify/gates/gate-facts.ts";
import { openMatcher } from "../../../verify/gates/pattern.ts";
import { listTree, textReader, ignoredFolders } from "../../../verify/gates/tree-facts.ts";
import type { TreeLook } from "../steps/tree-look.ts";

export type StagedTree = {
  readonly look: TreeLook;
  readonly facts: GateFacts;
  /** Whether `_docs/` holds anything but the state file. */
  readonly hasDocuments: boolean;
  readonly has: (folder: string) => boolean;
};

const documents = "_docs";
const sourceNames = /\.(?:py|cs|rs|ts|go|java|csproj)$|^(?:Cargo\.toml|package\.json|go\.mod|pom\.xml)$/;
const entriesMax = 50_000;
const depthMax = 8;

export async function readStagedTree(root: string): Promise<StagedTree> {
  const folder = join(root, documents);
  const isThere = lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true; // D1
  const listing = await listTree(isThere ? folder : [], { entriesMax, depthMax: 32 });
  const reader = textReader(listing);
  const inside = (path: string): string => path.slice(documents.length + 1);
  const files = new Map([...listing.entries].map(([path, entry]) => [`${documents}/${path}`, entry]));
  const paths = [...files].filter(([, { kind }]) => kind === "file").map(([path]) => path);
  const read: GateFacts["read"] = (path) => (path.startsWith(`${documents}/`) ? reader(inside(path)) : null);
  return {
    look: {
      paths,
      read: (path) => {
        const text = read(path);
        return Promise.resolve(text === null || !text.isWhole || text.fault !== undefined ? null : text.text);
      },
    },
    facts: {
      files,
      isWhole: listing.isWhole,
      read,
      match: openMatcher(),
      changed: new Set(),
      isNewer: () => null, // a checkout has no order of its own
      commandResult: () => ({ hasPassed: false, found: "not run" }), // detecting a project's step executes nothing
    },
    hasDocuments: paths.some((path) => path !== stagedStatePath),
    has: (name) => paths.some((path) => path.startsWith(`${documents}/${name}/`)),
  };
}

/** The first thing found that is source; null if there is none. */
export async function readSource(root: string): Promise<string | null> {
  let seen = 0;
  const waiting = [""];
  for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) {
    const items = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
    for (const item of items.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (++seen > entriesMax) return null; // D2
      const path = folder === "" ? item.name : `${folder}/${item.name}`;
      if (item.isFile() && sourceNames.test(item.name)) return path;
      if (!item.isDirectory() || item.name.startsWith(".") || ignoredFolders.includes(item.name) || path === documents) continue;
      if (path === "src") return "src/";
      if (path.split("/").length < depthMax) waiting.push(path);
    }
  }
  return null;
}
