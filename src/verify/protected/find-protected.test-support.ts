// find-protected: two trees in memory for tests, and which changes of protected files are found
// between them.

import type { Check } from "../../contracts/evidence.ts";
import type { Difference } from "../../ports/workspace.ts";
import { findProtected } from "./find-protected.ts";

export type Texts = Readonly<Record<string, string>>;
export const [base, commit] = ["b".repeat(40), "c".repeat(40)];

export function createTrees(before: Texts, after: Texts) {
  const treeAt = (sha: string): Texts => (sha === base ? before : after);
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();

  const differences = paths.flatMap((path): Difference[] => {
    const [was, is] = [before[path] ?? null, after[path] ?? null];
    if (was === is) return [];
    return [{ path, kind: was === null ? "added" : is === null ? "deleted" : "changed", was, is }];
  });

  return {
    differences: () => Promise.resolve(differences),
    pathsAt: (sha: string) => Promise.resolve(Object.keys(treeAt(sha))),
    textAt: (sha: string, path: string) => Promise.resolve(treeAt(sha)[path] ?? null),
  };
}

const check = (command: string): Check => ({
  id: command,
  kind: "criterion",
  title: command,
  command,
  source: "test",
});

export async function findChanges(
  before: Texts,
  change: Texts,
  commands: readonly string[] = [],
  scope: readonly string[] = ["**"],
) {
  const parts = {
    workspace: createTrees(before, { ...before, ...change }),
    protect: [],
    restores: false,
  };
  return (
    await findProtected(parts, { base, commit, scope, approved: [], checks: commands.map(check) })
  ).changes;
}
/** Each change as its path and kind: `test/a.test.js weakened`. */
export const describeChanges = async (...input: Parameters<typeof findChanges>) =>
  (await findChanges(...input)).map(({ path, how }) => `${path} ${how}`);
