// base-overrides: decides which files of a checkout are replaced by the base's, so that the base's
// protected files judge the agent's code.
//
// Invariants:
//   U1. What is restored follows from the paths and the run's policy alone, so that evidence that
//       lists them can be reproduced anywhere.
//   U2. If only a part of a file judges, only that part is the base's, provided that the two can be
//       combined. Otherwise the whole file is the base's, but never a source file: that would
//       remove the work itself.

import type { ProtectedChange } from "../../contracts/evidence.ts";
import type { GitSha } from "../../contracts/ids.ts";
import { asSet } from "../../kit/as-set.ts";
import type { CheckoutOverrides } from "../../ports/workspace.ts";
import { restorePackageJson } from "./parts/restore-package-json.ts";
import type { CommandSet } from "./command-set.ts";
import { createRowFinder } from "./protect.ts";
import type { ProtectionSources } from "./load-protection-rules.ts";
import { findMoves } from "./moved-files.ts";
import { textBytesMax } from "./read-change.ts";
import { restoreRustTests } from "./parts/rust-test-parts.ts";

export type OverrideRequest = {
  readonly base: GitSha;
  readonly commit: GitSha;
  readonly changes: readonly Pick<ProtectedChange, "path" | "how" | "kind">[];
  readonly commands: readonly string[];
};

export async function buildOverrides(
  { workspace, restores, protect }: ProtectionSources,
  { base, commit, changes, commands }: OverrideRequest,
): Promise<CheckoutOverrides> {
  const rowOf = createRowFinder(protect);
  const [differences, basePaths] = [
    await workspace.differences(base, commit),
    asSet(await workspace.pathsAt(base)),
  ];
  const differenceByPath = new Map(differences.map((difference) => [difference.path, difference]));
  const moves = findMoves(differences);
  const refusedPaths = new Set(changes.map(({ path }) => path));
  const manifestsOfLocks = [...refusedPaths]
    .filter((path) => rowOf(path)?.part === "lock")
    .map((path) => path.replace(/[^/]*$/, "package.json"));

  const commandSet: CommandSet = { commands, usedCommands: commands, restores };
  const paths: string[] = [];
  /** New files are removed; so are the new places of files that were moved. */
  const removedPaths = new Set(
    [...refusedPaths].flatMap((path) => (basePaths.has(path) ? (moves.get(path) ?? []) : path)),
  );

  const rewrittenFiles: { path: string; text: string }[] = [];
  const changedManifests = manifestsOfLocks.filter(
    (manifest) => differenceByPath.get(manifest)?.kind === "changed",
  );
  for (const path of new Set([...refusedPaths, ...changedManifests])) {
    if (!basePaths.has(path)) continue;
    const text = await withBaseParts(path);
    if (text !== null) rewrittenFiles.push({ path, text });
    else if (rowOf(path)?.part !== "rust_source") paths.push(path);
  }

  return {
    from: base,
    paths: paths.toSorted(),
    without: [...removedPaths].toSorted(),
    written: rewrittenFiles,
  };

  /** The file with the base's protected parts; null if the whole of it must be the base's. */
  async function withBaseParts(path: string): Promise<string | null> {
    const part = rowOf(path)?.part;
    if (part !== "package" && part !== "composer" && part !== "rust_source") return null;
    const before = await workspace.textAt(base, path, textBytesMax);
    const after = await workspace.textAt(commit, path, textBytesMax);
    if (before === null || after === null) return null;
    if (part === "rust_source") return restoreRustTests(before, after);

    return restorePackageJson(before, after, commandSet, manifestsOfLocks.includes(path)); // U2
  }
}

/** Every path that is not the commit's own, as evidence lists them. */
export const listOverriddenPaths = ({
  paths,
  without,
  written = [],
}: CheckoutOverrides): readonly string[] =>
  [...paths, ...without, ...written.map(({ path }) => path)].toSorted();
