// find-protected: two trees in memory, and what of the second changes the judges of the first.

import type { Check } from "../../contracts/evidence.ts";
import type { Difference } from "../../ports/workspace.ts";
import { findProtected } from "./find-protected.ts";

export type Texts = Readonly<Record<string, string>>;
export const [base, commit] = ["b".repeat(40), "c".repeat(40)];

export function between(before: Texts, after: Texts) {
  const tree = (at: string): Texts => (at === base ? before : after);
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  const differences = paths.flatMap((path): Difference[] => {
    const [was, now] = [before[path] ?? null, after[path] ?? null];
    if (was === now) return [];
    return [{ path, kind: was === null ? "added" : now === null ? "deleted" : "changed", was, now }];
  });
  return {
    differences: () => Promise.resolve(differences),
    pathsAt: (at: string) => Promise.resolve(Object.keys(tree(at))),
    textAt: (at: string, path: string) => Promise.resolve(tree(at)[path] ?? null),
  };
}

const check = (command: string): Check => ({ id: command, kind: "criterion", title: command, command, source: "test" });

export async function changesIn(before: Texts, change: Texts, commands: readonly string[] = [], scope: readonly string[] = ["**"]) {
  const parts = { workspace: between(before, { ...before, ...change }), protect: [], restores: false };
  return (await findProtected(parts, { base, commit, scope, approved: [], checks: commands.map(check) })).changes;
}
export const hows = async (...those: Parameters<typeof changesIn>) => (await changesIn(...those)).map(({ path, how }) => `${path} ${how}`);
