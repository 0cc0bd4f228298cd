// judge-layer: compares what is in a layer with the tree it was made from, and judges every
// difference. Pure.
//
// Invariants:
//   J1. Every file that differs is a change: created, edited, deleted, mode; a rename is a deletion
//       and a creation. What is not a file or link is a violation without a change.
//   J2. Only regular files can be created or edited; a new or changed link, a hard link, a device,
//       a repository is a violation, in or out of scope, unless it is left out (J4).
//   J3. Paths that were hidden from the agent (masked, runner-owned) aren't deletions when absent,
//       and violations when they reappear different.
//   J4. What is left out is neither a change nor a violation; it is still part of the layer's hash.

import { compareText } from "../../kit/compare-text.ts";
import type { GitSha } from "../../contracts/ids.ts";
import type { Violation } from "../../ports/workspace.ts";
import { displayPath, bytePathToText, type BytePath } from "../git/byte-path.ts";
import { findCollisions } from "../git/confusable-names.ts";
import type { ScannedEntry } from "./scan-layer.ts";
import type { PathTest } from "./scope-globs.ts";
import { isGitlink, isSameEntry, type Tree, type TreeEntry } from "../git/tree.ts";

/** How one path differs: an entry is null where there is none. */
export type LayerChange = {
  readonly path: BytePath;
  readonly before: TreeEntry | null;
  /**
   * `bytesSha`: the hash of the bytes in the folder, if git stores others for them
   * (stored-content.ts).
   */
  readonly after:
    | (TreeEntry & { readonly kind: "file" | "link"; readonly bytesSha?: GitSha })
    | null;
};
export type Judgement = {
  readonly changes: readonly LayerChange[];
  readonly violations: readonly Violation[];
  /** Differences that are neither applied nor violations. */
  readonly leftOut: readonly LayerChange[];
};

export type JudgeInput = {
  readonly base: Tree;
  /** Existing paths in the folders of the new ones, if the base is not the whole tree. */
  readonly neighbours?: readonly BytePath[];
  readonly scanned: ReadonlyMap<BytePath, ScannedEntry>;
  readonly inScope: PathTest;
  readonly isOwned: PathTest;
  readonly isMasked: PathTest;
  readonly isLeftOut: PathTest;
  readonly fileBytesMax: number;
};

type UnstorableEntry = Extract<ScannedEntry, { kind: "unstorable" }>;
type StorableEntry = Exclude<ScannedEntry, UnstorableEntry>;

const pathBytesMax = 4000;

/** The differences, and why they may not be applied. Both are sorted by path. */
export function judgeLayer(input: JudgeInput): Judgement {
  const changes: LayerChange[] = [];
  const violations: Violation[] = [];
  const leftOut: LayerChange[] = [];
  const isLeftOut = (path: BytePath): boolean => input.isLeftOut(displayPath(path)); // J4

  for (const [path, before] of input.base) {
    if (!isDeletion(input, path, before)) continue;
    const change: LayerChange = { path, before, after: null };
    if (isLeftOut(path)) {
      leftOut.push(change);
      continue;
    }

    changes.push(change); // J1
    violations.push(...judgePath(input, path));
  }

  for (const [path, entry] of input.scanned) {
    if (entry.kind === "unstorable") {
      // An unreadable root hides what must be judged, whatever is left out below it.
      if (path === "" || !isLeftOut(path)) violations.push(toViolation(path, entry));
      continue;
    }

    const change = compareWithBase(input.base, path, entry);
    if (change === null) continue;
    if (isLeftOut(path)) {
      leftOut.push(change);
      continue;
    }

    changes.push(change);
    violations.push(...judgePath(input, path), ...judgeKind(input, path, entry));
  }

  violations.push(...judgeCollisions(input.neighbours ?? input.base.keys(), changes));
  changes.sort((a, b) => (a.path < b.path ? -1 : 1));
  violations.sort((a, b) => compareText(a.path, b.path));

  return { changes, violations, leftOut };
}

/** Whether a path of the base is gone, and was not just hidden from the agent (J3). */
function isDeletion(input: JudgeInput, path: BytePath, before: TreeEntry): boolean {
  if (input.scanned.has(path) || isGitlink(before)) return false; // a submodule's folder may be absent
  const shownPath = displayPath(path);
  return !input.isOwned(shownPath) && !input.isMasked(shownPath);
}

/** How a scanned file or link differs from the base; null if it does not. */
function compareWithBase(base: Tree, path: BytePath, entry: StorableEntry): LayerChange | null {
  const before = base.get(path) ?? null;
  const after = {
    kind: entry.kind,
    mode: entry.kind === "link" ? "120000" : entry.mode,
    sha: entry.sha,
    ...(entry.kind === "file" && entry.bytesSha !== undefined ? { bytesSha: entry.bytesSha } : {}),
  };

  const plainBefore = before === null ? null : { ...before, mode: toPlainMode(before.mode) };
  return isSameEntry(plainBefore, after) ? null : { path, before, after };
}

const toViolation = (path: BytePath, { violation, detail }: UnstorableEntry): Violation => ({
  path: displayPath(path),
  kind: violation,
  detail,
});

/** Old trees have group-writable files; git checks them out as plain ones. */
const toPlainMode = (mode: string): string => (mode === "100664" ? "100644" : mode);

function judgePath(input: JudgeInput, path: BytePath): Violation[] {
  const text = bytePathToText(path);
  const refuse = (kind: Violation["kind"], detail: string): Violation[] => [
    { path: displayPath(path), kind, detail },
  ];

  if (text === null) return refuse("bad_path", "the name is no UTF-8");
  if (path.length > pathBytesMax) return refuse("bad_path", "the path is too long");
  if (text.split("/").some((part) => part === "" || part === "." || part === "..")) {
    return refuse("bad_path", "not a plain relative path");
  }

  // J3
  if (input.isOwned(text)) return refuse("runner_owned", "only the runner writes this file");
  if (input.isMasked(text)) {
    return refuse("outside_scope", "kept from this attempt, so not its to write");
  }

  return input.inScope(text) ? [] : refuse("outside_scope", "outside the scope");
}

/** J2 */
function judgeKind(input: JudgeInput, path: BytePath, entry: StorableEntry): Violation[] {
  const refuse = (kind: Violation["kind"], detail: string): Violation[] => [
    { path: displayPath(path), kind, detail },
  ];

  if (entry.kind === "link") return refuse("symlink", "new or changed links are never applied");
  if (entry.links > 1) {
    return refuse(
      "hard_link",
      `the file has ${entry.links} names, so others could still change it`,
    );
  }

  if (entry.bytes > input.fileBytesMax) {
    return refuse("too_large", `${entry.bytes} bytes, ${input.fileBytesMax} allowed`);
  }

  return [];
}

function judgeCollisions(
  existing: Iterable<BytePath>,
  changes: readonly LayerChange[],
): Violation[] {
  const deleted = new Set(changes.filter(({ after }) => after === null).map(({ path }) => path));
  const created = changes
    .filter(({ before, after }) => before === null && after !== null)
    .map(({ path }) => displayPath(path));
  if (created.length === 0) return [];
  const remaining = [...existing].filter((path) => !deleted.has(path)).map(displayPath);

  return findCollisions(created, remaining).map(({ path, otherPath }) => ({
    path,
    kind: "case_collision",
    detail: `some machines take it for ${otherPath}`,
  }));
}
