// Two trees in temporary folders, before and after some work, and checks that a verifier runs on
// both as a run would ask for it.

import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Check, CheckResult } from "../../src/contracts/evidence.ts";
import type { Difference } from "../../src/ports/workspace.ts";
import { systemClock } from "../../src/project/runs/system-clock.ts";
import { openVerifier, type VerifierParts } from "../../src/verify/verifier.ts";
import { readCheckoutStamp } from "../../src/workspace/layers/check-folder.ts";
import { shortenRepeats } from "../support/short-repeats.ts";

export type Tree = Readonly<Record<string, string>>;
export type Trees = {
  /** The folder for checkouts. */
  readonly root: string;
  readonly blobs: Map<string, Buffer>;
  readonly before: Tree;
  readonly change: Tree;
  readonly parts?: Partial<VerifierParts>;
  readonly goal?: string;
};
const [base, work] = ["b".repeat(40), "c".repeat(40)];

const nameOf = (text: string): string => createHash("sha1").update(text).digest("hex");

function workspaceOf(
  root: string,
  trees: Readonly<Record<string, Tree>>,
): VerifierParts["workspace"] {
  const at = (commit: string): Tree => trees[commit] ?? {};
  let laid = nameOf("");
  return {
    checkout: async (commit, purpose, taken) => {
      const folder = join(root, purpose);
      rmSync(folder, { recursive: true, force: true });
      const tree: Record<string, string> = { ...at(commit) };
      for (const path of taken?.without ?? []) delete tree[path];
      for (const path of taken?.paths ?? []) {
        const text = at(taken?.from ?? commit)[path];
        if (text !== undefined) tree[path] = text;
      }

      for (const { path, text } of taken?.written ?? []) tree[path] = shortenRepeats(text);
      for (const [path, text] of Object.entries(tree)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), text);
      }

      laid = nameOf(JSON.stringify(tree));
      return folder;
    },
    dropCheckout: async () => undefined,
    foldersOf: (folder) => [folder],
    rewrittenIn: async () => [],
    touchedIn: async () => [],
    stampOf: readCheckoutStamp,
    dependenciesIn: async () => null,
    differences: async (from, to) => {
      const paths = new Set([...Object.keys(at(from)), ...Object.keys(at(to))]);
      return [...paths].flatMap((path): Difference[] => {
        const [was, now] = [at(from)[path], at(to)[path]];
        if (was === now) return [];
        return [
          { path, kind: was === undefined ? "added" : now === undefined ? "deleted" : "changed" },
        ];
      });
    },
    pathsAt: async (commit) => Object.keys(at(commit)),
    textAt: async (commit, path) => at(commit)[path] ?? null,
    hasCommit: async () => false,
    inspect: async () => ({ layer: "absent", commit: null }),
    requireIntact: () => Promise.resolve(),
    treeOf: async () => laid,
  };
}

/** The checks' results on the work, after they were run on the base. */
export async function tryOnTrees(
  { root, blobs, before, change, parts, goal }: Trees,
  checks: readonly Check[],
): Promise<readonly CheckResult[]> {
  const trees = { [base]: before, [work]: { ...before, ...change } };
  const verifier = openVerifier({
    workspace: workspaceOf(root, trees),
    putBlob: async (bytes) => {
      const hash = createHash("sha256").update(bytes).digest("hex");
      blobs.set(hash, Buffer.from(bytes));
      return hash;
    },
    readBlob: async (hash) => blobs.get(hash) ?? Buffer.alloc(0),
    isolation: "none",
    product: "autopilot test",
    timeoutMs: 60_000,
    repeatMax: 1,
    clock: systemClock,
    ...parts,
  });

  const common = {
    attempt: "1@1/prove#1",
    checks: [...checks],
    cancel: new AbortController().signal,
    onLiveEvent: () => undefined,
  };

  const first = await verifier.check({ ...common, commit: base });
  const known = Object.fromEntries(first.map(({ check, status }) => [check.id, status]));
  const evidence = Object.fromEntries(first.map(({ check, evidence: hash }) => [check.id, hash]));

  return verifier.check({
    ...common,
    commit: work,
    base,
    known,
    evidenceBefore: evidence,
    ...(goal === undefined ? {} : { goal }),
  });
}
