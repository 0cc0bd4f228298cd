// parts: what a verifier is made of.

import type { Quarantine } from "../contracts/config.ts";
import type { Check, CheckResult } from "../contracts/evidence.ts";
import type { GitSha, Hash } from "../contracts/ids.ts";
import type { Redactor } from "../kit/redact.ts";
import type { Clock } from "../ports/clock.ts";
import type { Workspace } from "../ports/workspace.ts";
import type { ClaimsWorkspace } from "./claims/of-tree.ts";
import type { Guard, Wrap } from "./command.ts";
import type { Env } from "./environment.ts";
import type { PutBlob } from "./evidence.ts";
import type { Reading } from "./protected/find-protected.ts";
import type { MakeFolder } from "./scratch.ts";
import type { Verdicts } from "./verdicts.ts";

export type VerifierParts = {
  readonly workspace: Pick<
    Workspace,
    "checkout" | "dropCheckout" | "foldersOf" | "treeOf" | "rewrittenIn" | "touchedIn" | "dependenciesIn"
  > &
    Reading &
    ClaimsWorkspace;
  readonly putBlob: PutBlob;
  /** The isolation's name, as evidence records it. */
  readonly isolation: string;
  readonly product: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly wrap?: Wrap;
  /** For `restores`, where it differs. */
  readonly wrapRestore?: Wrap;
  readonly env?: Env;
  readonly guard?: Guard;
  /** Makes the folder of one command; in the system's temporary folder unless told. */
  readonly scratch?: MakeFolder;
  /** Takes secrets out of evidence before it is kept; without it, only what looks like one. */
  readonly redactor?: Redactor;
  /** What a clean folder needs before any check can run in it: dependencies, from the lock file. Their results come before the others. */
  readonly restores?: readonly Check[];
  /** How often at most a check is run on one tree to tell whether it is flaky; 3 unless told, 1 turns it off. */
  readonly repeatMax?: number;
  /** Checks known to be flaky, and until when. */
  readonly quarantine?: readonly Quarantine[];
  /** Globs of further protected files; behind `!`, of what is none. */
  readonly protect?: readonly string[];
  /** When a check that passes is tried out: once all have passed, always, or never; `final` unless told. */
  readonly canary?: "final" | "always" | "off";
  /** How long the experiments on one check may take; ten minutes unless told. */
  readonly canaryMinutes?: number;
  /** Reads evidence back, so that what was judged once need not be run again. Without it everything is run. */
  readonly readBlob?: (hash: Hash) => Promise<Uint8Array>;
  /**
   * Whether a path was last changed in a later commit than another, null if history does not say. Without it, `after` holds only
   * between what this visit changed and what it did not.
   */
  readonly isLater?: (commit: GitSha, path: string, than: string) => Promise<boolean | null>;
};

/** What the parts of an open verifier share. */
export type OpenParts = VerifierParts & {
  readonly verdicts: Verdicts | null;
  /** What was tried out already, by its evidence. */
  readonly tried?: Map<string, CheckResult>;
};
