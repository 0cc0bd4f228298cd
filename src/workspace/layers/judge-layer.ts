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

const pathBytesMax = 4000;

/** The differences, and why they may not be applied. Both are sorted by path. */
export function judgeLayer(input: JudgeInput): Judgement {
  const changes: LayerChange[] = [];
  const violations: Violation[] = [];
  const leftOut: LayerChange[] = [];

  const addChange = (
    change: LayerChange,
    entry?: Exclude<ScannedEntry, { kind: "unstorable" }>,
  ): void => {
    if (input.isLeftOut(displayPath(change.path))) return void leftOut.push(change); // J4
    changes.push(change);
    violations.push(
      ...judgePath(input, change.path),
      ...(entry === undefined ? [] : judgeKind(input, change.path, entry)),
    );
  };

  for (const [path, before] of input.base) {
    if (input.scanned.has(path) || isGitlink(before)) continue; // a submodule's folder may be absent
    const shownPath = displayPath(path);
    if (input.isOwned(shownPath) || input.isMasked(shownPath)) continue; // J3
    addChange({ path, before, after: null }); // J1
  }

  for (const [path, entry] of input.scanned) {
    if (entry.kind === "unstorable") {
      const shownPath = displayPath(path);
      // An unreadable root hides what must be judged, whatever is left out below it.
      if (path === "" || !input.isLeftOut(shownPath)) {
        violations.push({ path: shownPath, kind: entry.violation, detail: entry.detail });
      }

      continue;
    }

    const before = input.base.get(path) ?? null;
    const bytesSha =
      entry.kind === "file" && entry.bytesSha !== undefined ? { bytesSha: entry.bytesSha } : {};

    const after = {
      kind: entry.kind,
      mode: entry.kind === "link" ? "120000" : entry.mode,
      sha: entry.sha,
      ...bytesSha,
    };

    if (
      isSameEntry(before === null ? null : { ...before, mode: toPlainMode(before.mode) }, after)
    ) {
      continue;
    }

    addChange({ path, before, after }, entry);
  }

  violations.push(...judgeCollisions(input.neighbours ?? input.base.keys(), changes));
  changes.sort((a, b) => (a.path < b.path ? -1 : 1));
  violations.sort((a, b) => compareText(a.path, b.path));

  return { changes, violations, leftOut };
}

/** Old trees have group-writable files; git checks them out as plain ones. */
const toPlainMode = (mode: string): string => (mode === "100664" ? "100644" : mode);

function judgePath(input: JudgeInput, path: BytePath): Violation[] {
  const text = bytePathToText(path);
  if (text === null || path.length > pathBytesMax) {
    return [
      {
        path: displayPath(path),
        kind: "bad_path",
        detail: text === null ? "the name is no UTF-8" : "the path is too long",
      },
    ];
  }

  if (text.split("/").some((part) => part === "" || part === "." || part === "..")) {
    return [{ path: text, kind: "bad_path", detail: "not a plain relative path" }];
  }

  if (input.isOwned(text)) {
    return [{ path: text, kind: "runner_owned", detail: "only the runner writes this file" }];
  } // J3

  if (input.isMasked(text)) {
    return [
      { path: text, kind: "outside_scope", detail: "kept from this attempt, so not its to write" },
    ];
  } // J3

  if (!input.inScope(text)) {
    return [{ path: text, kind: "outside_scope", detail: "outside the scope" }];
  }

  return [];
}

function judgeKind(
  input: JudgeInput,
  path: BytePath,
  entry: Exclude<ScannedEntry, { kind: "unstorable" }>,
): Violation[] {
  const shownPath = displayPath(path);
  if (entry.kind === "link") {
    return [{ path: shownPath, kind: "symlink", detail: "new or changed links are never applied" }];
  } // J2

  if (entry.links > 1) {
    return [
      {
        path: shownPath,
        kind: "hard_link",
        detail: `the file has ${entry.links} names, so others could still change it`,
      },
    ];
  } // J2

  if (entry.bytes > input.fileBytesMax) {
    return [
      {
        path: shownPath,
        kind: "too_large",
        detail: `${entry.bytes} bytes, ${input.fileBytesMax} allowed`,
      },
    ];
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
