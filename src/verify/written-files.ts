// written-files: finds protected files that were written to while a check ran, and says what that
// means for its pass.

import { listSome } from "../kit/list-some.ts";
import type { Evidence } from "../contracts/evidence.ts";
import { filterProtected, filterProtectedPrograms } from "./protected/protect.ts";
import type { OpenParts } from "./verifier-parts.ts";

const pathsMax = 100;

export type WrittenTo = {
  /** Protected files that differ from when the check began. */
  readonly rewrote: readonly string[];
  /** Protected files that were written to, even if they have their old content again. */
  readonly touched: readonly string[];
};

export const wroteNothing: WrittenTo = { rewrote: [], touched: [] };

/** `overridden`: paths that the runner itself put there for this check. */
export async function findWrittenFiles(
  { workspace, protect = [] }: Pick<OpenParts, "workspace" | "protect">,
  folder: string,
  {
    isChanged,
    overridden,
  }: { readonly isChanged: boolean; readonly overridden: readonly string[] },
): Promise<WrittenTo> {
  const exceptOverridden = (paths: readonly string[]): readonly string[] =>
    paths.filter((path) => !overridden.includes(path));
  const rewritten = isChanged ? await workspace.rewrittenIn(folder) : [];
  return {
    rewrote: filterProtectedPrograms(exceptOverridden(rewritten), protect).slice(0, pathsMax),
    touched: filterProtected(exceptOverridden(await workspace.touchedIn(folder)), protect).slice(
      0,
      pathsMax,
    ),
  };
}

/**
 * Why a check that rewrote protected files proves nothing: the code under test affected its judge.
 * Null if it did so before the work too, or rewrote nothing.
 */
export function whyJudgeRewritten(
  { rewrote }: WrittenTo,
  baseEvidence: Evidence | null,
): string | null {
  const newPaths =
    baseEvidence === null
      ? []
      : rewrote.filter((path) => !(baseEvidence.rewrote ?? []).includes(path));
  return newPaths.length === 0 ? null : `it rewrote what judges as it ran: ${listSome(newPaths)}`;
}

/**
 * What a person has to review: files that this check wrote to and did not touch on the base; null
 * if there are none.
 */
export function describeTouchedFiles(
  { touched }: WrittenTo,
  baseEvidence: Evidence | null,
): string | null {
  const newPaths =
    baseEvidence === null
      ? []
      : touched.filter((path) => !(baseEvidence.touched ?? []).includes(path));
  return newPaths.length === 0
    ? null
    : `files that judge were written to as it ran (${listSome(newPaths)}), so a person has to look at that`;
}
