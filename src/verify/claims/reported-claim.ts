// reported-claim: the types of claims that can be checked, parsed so that checking needs no text,
// and of the verdict on one.

import type { ClaimChecked } from "../../contracts/evidence.ts";

/** `subject`: `all`, `task`, `tests`, or a criterion by its id or its text. */
export type DoneClaim = { readonly kind: "done"; readonly text: string; readonly subject: string };
/** `passed` is null if no result was claimed. */
export type CommandClaim = {
  readonly kind: "command";
  readonly text: string;
  readonly command: string;
  readonly passed: boolean | null;
};
export type CommitClaim = { readonly kind: "commit"; readonly text: string; readonly sha: string };
export type FileLineClaim = {
  readonly kind: "file_line";
  readonly text: string;
  readonly path: string;
  readonly line: number;
  /** Where a range begins whose last line is `line`. */
  readonly firstLine?: number;
  /** An identifier claimed to be there. */
  readonly name: string | null;
  /** It says that something was removed, so the name need not be there any more. */
  readonly isOfRemoval: boolean;
};
export type FileChangedClaim = {
  readonly kind: "file_changed";
  readonly text: string;
  readonly path: string;
};
export type CountClaim = {
  readonly kind: "count";
  readonly text: string;
  readonly counted: "tests_added" | "files_changed" | "listed" | "other";
  readonly claimedCount: number;
  /** What is claimed to be listed: `findings`, `bugs`. */
  readonly noun?: string;
};
/** An id in the agent's return, which its documents must then contain. */
export type NamedClaim = { readonly kind: "named"; readonly text: string; readonly id: string };
export type ScoreClaim = { readonly kind: "score"; readonly text: string };

export type ReportedClaim =
  | DoneClaim
  | CommandClaim
  | CommitClaim
  | FileLineClaim
  | FileChangedClaim
  | CountClaim
  | NamedClaim
  | ScoreClaim;

export const claimLimits = {
  saidCharsMax: 64 * 1024,
  sentencesMax: 2_000,
  sentenceCharsMax: 1_000,
  claimsMax: 200,
  textCharsMax: 300,
  whyCharsMax: 300,
  /** Each lookup in git costs a process. */
  commitsMax: 20,
  filesMax: 40,
  fileBytesMax: 8 * 1024 * 1024,
} as const;

/** On one line, and no longer than a claim may be. */
export function toClaimText(text: string, charsMax: number = claimLimits.textCharsMax): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= charsMax ? line : `${line.slice(0, charsMax - 1)}…`;
}

export type ClaimVerdict = Pick<ClaimChecked, "verdict" | "why">;
export const confirmed = (why: string): ClaimVerdict => ({ verdict: "true", why });
export const refuted = (why: string): ClaimVerdict => ({ verdict: "false", why });
export const unverifiable = (why: string): ClaimVerdict => ({ verdict: "unverifiable", why });
