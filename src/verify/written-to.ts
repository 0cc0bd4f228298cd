// written-to: what judges and was written to while a check ran, and what that leaves of its pass.
// Invariants V1 and on: verify/verifier.ts.

import type { Evidence } from "../contracts/evidence.ts";
import { allJudgesAmong, judgesAmong } from "./protected/protect.ts";
import type { OpenParts } from "./parts.ts";

const shownMax = 3;
const pathsMax = 100;

export type WrittenTo = {
  /** What judges and is no longer what it was when the check began. */
  readonly rewrote: readonly string[];
  /** What judges and was written to, even if it is again what it was. */
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

/** Why a check that rewrote what judges proves nothing; null if it did so before the work too, or rewrote nothing. V9 of verifier.ts */
export function whySpoiled({ rewrote }: WrittenTo, before: Evidence | null): string | null {
  const news = before === null ? [] : rewrote.filter((path) => !(before.rewrote ?? []).includes(path));
  return news.length === 0 ? null : `it rewrote what judges as it ran: ${news.slice(0, shownMax).join(", ")}`;
}

/** What a person has to look at: written to and put back, or no program, and left alone before the work; null if there is nothing. */
export function handledGap({ touched }: WrittenTo, before: Evidence | null): string | null {
  const news = before === null ? [] : touched.filter((path) => !(before.touched ?? []).includes(path));
  if (news.length === 0) return null;
  const more = news.length > shownMax ? ` and ${news.length - shownMax} more` : "";
  return `files that judge were written to as it ran (${news.slice(0, shownMax).join(", ")}${more}), so a person has to look at that`;
}
