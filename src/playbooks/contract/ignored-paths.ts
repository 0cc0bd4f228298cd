// ignored-paths: finds the git ignore rule that would keep a gate's required file from ever being
// committed.

import type { Gate, Proof } from "../../contracts/flow.ts";
import { git } from "../../workspace/git/git.ts";
import { findGitPlaces } from "../../workspace/git/git-places.ts";
import { openUserView } from "../../workspace/git/user-view.ts";

export type IgnoreRule = {
  readonly path: string;
  readonly source: string;
  readonly line: number;
  readonly pattern: string;
};

/**
 * The first rule by which git ignores one of these paths. An ignored file is never committed, so a
 * gate that requires it could never pass.
 */
export async function findIgnoreRule(
  root: string,
  paths: readonly string[],
): Promise<IgnoreRule | null> {
  const gitPlaces = paths.length === 0 ? null : findGitPlaces(root);
  if (gitPlaces === null) return null;
  const input = [Buffer.from(paths.join("\0"))];
  const args = ["check-ignore", "-v", "-z", "--no-index", "--stdin"];

  const { out } = await git({
    ...(await openUserView(gitPlaces)),
    args,
    input,
    acceptedExitCodes: [0, 1, 128],
  }); // 1: no rule matches; 128: git cannot tell
  // Four fields for each path that a rule matches: the ignore file, the line in it, the pattern,
  // the path.
  const fields = out.toString("utf8").split("\0");
  const rules = paths.map((_, index) => fields.slice(index * 4, index * 4 + 4));
  // A pattern that begins with ! re-includes the path.
  const ignoringRule = rules.find(
    ([, , pattern]) => pattern !== undefined && !pattern.startsWith("!"),
  );
  const [source = "", line = "", pattern = "", path] = ignoringRule ?? [];

  return path === undefined ? null : { path, source, line: Number(line), pattern };
}

/**
 * A path for each file that these proofs require, except those with a placeholder; a glob is
 * replaced by one path that matches it.
 */
export function listRequiredPaths(proofs: readonly Proof[]): readonly string[] {
  const paths = proofs.flatMap((proof) => (typeof proof === "string" ? [] : gatePaths(proof)));
  return [...new Set(paths)];
}

function gatePaths({ file, files, any, all, else: alternatives }: Gate): readonly string[] {
  const patterns = [file, ...(files ?? []), any].filter((pattern) => pattern !== undefined);
  const plainPatterns = patterns.filter((pattern) => !pattern.includes("{")); // the value of a placeholder isn't known yet
  return [
    ...plainPatterns.map((pattern) => pattern.replaceAll(/\*+/g, "1")), // quality/*.md: quality/1.md
    ...listRequiredPaths([...(all ?? []), ...(alternatives ?? [])]),
  ];
}
