// ignored-paths: finds the git ignore rule that would keep a gate's required file from ever being committed.

import type { Gate, Proof } from "../../contracts/flow.ts";
import { git } from "../../workspace/git/git.ts";
import { findGitPlaces } from "../../workspace/git/git-places.ts";
import { openUserView } from "../../workspace/git/user-view.ts";

export type IgnoreRule = { readonly path: string; readonly source: string; readonly line: number; readonly pattern: string };

/** The first rule by which git ignores one of these paths. An ignored file is never committed, so a gate that requires it could never pass. */
export async function findIgnoreRule(root: string, paths: readonly string[]): Promise<IgnoreRule | null> {
  const places = paths.length === 0 ? null : findGitPlaces(root);
  if (places === null) return null;
  const input = [Buffer.from(paths.join("\0"))];
  const args = ["check-ignore", "-v", "-z", "--no-index", "--stdin"];
  const { out } = await git({ ...(await openUserView(places)), args, input, codes: [0, 1, 128] });
  const fields = out.toString("utf8").split("\0");
  const rules = paths.map((_, index) => fields.slice(index * 4, index * 4 + 4));
  // A rule that begins with ! re-includes the path.
  const [source = "", line = "", pattern = "", path] = rules.find(([, , rule]) => rule !== undefined && !rule.startsWith("!")) ?? [];
  return path === undefined ? null : { path, source, line: Number(line), pattern };
}

/** A path for each file that these proofs require; a glob is replaced by one path that matches it. */
export function requiredPaths(proofs: readonly Proof[]): readonly string[] {
  const paths = proofs.flatMap((proof) => (typeof proof === "string" ? [] : gatePaths(proof)));
  return [...new Set(paths)];
}

const gatePaths = ({ file, files, any, all, else: otherwise }: Gate): readonly string[] => [
  ...[file, ...(files ?? []), any].flatMap((path) => (path === undefined || path.includes("{") ? [] : [path.replaceAll(/\*+/g, "1")])),
  ...requiredPaths([...(all ?? []), ...(otherwise ?? [])]),
];
