// written-to: protected files that were written to while a check ran, and what that means for its pass.
// Invariants V1 and on: verify/verifier.ts.

import type { Evidence } from "../contracts/evidence.ts";
import { allJudgesAmong, judgesAmong } from "./protected/protect.ts";
import type { OpenParts } from "./parts.ts";

const shownMax = 3;
const pathsMax = 100;

export type WrittenTo = {
  /** Protected files that differ from when the check began. */
  readonly rewrote: readonly string[];
  /** Protected files that were written to, even if they have their old content again. */
  readonly touched: readonly string[];
};

/** `own`: paths that the runner itself put there for this check. */
export async function writtenToIn(
  { workspace, protect = [] }: Pick<OpenParts, "workspace" | "protect">,
  folder: string,
  { isChanged, own }: { readonly isChanged: boolean; readonly own: readonly string[] },
): Promise<WrittenTo> {
  const others = (paths: readonly string[]): readonly string[] => paths.filter((path) => !own.includes(path));
  const rewritten = isChanged ? await workspace.rewrittenIn(folder) : [];
  return {
    rewrote: judgesAmong(others(rewritten), protect).slice(0, pathsMax),
    touched: allJudgesAmong(others(await workspace.touchedIn(folder)), protect).slice(0, pathsMax),
  };
}

/** Why a check that rewrote protected files proves nothing; null if it did so before the work too, or rewrote nothing. V9 of verifier.ts */
export function whyJudgeRewritten({ rewrote }: WrittenTo, before: Evidence | null): string | null {
  const news = before === null ? [] : rewrote.filter((path) => !(before.rewrote ?? []).includes(path));
  return news.length === 0 ? null : `it rewrote what judges as it ran: ${news.slice(0, shownMax).join(", ")}`;
}

/** What a person has to review: files written to and restored, or not programs, and left alone before the work; null if nothing. */
export function handledGap({ touched }: WrittenTo, before: Evidence | null): string | null {
  const news = before === null ? [] : touched.filter((path) => !(before.touched ?? []).includes(path));
  if (news.length === 0) return null;
  const more = news.length > shownMax ? ` and ${news.length - shownMax} more` : "";
  return `files that judge were written to as it ran (${news.slice(0, shownMax).join(", ")}${more}), so a person has to look at that`;
}
