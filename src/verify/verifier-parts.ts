// verifier-parts: the dependencies and settings of a verifier.

import type { Quarantine } from "../contracts/config.ts";
import type { Check, CheckResult } from "../contracts/evidence.ts";
import type { GitSha, Hash } from "../contracts/ids.ts";
import type { Redactor } from "../kit/redact.ts";
import type { Clock } from "../ports/clock.ts";
import type { Workspace } from "../ports/workspace.ts";
import type { ClaimsWorkspace } from "./claims/tree-lookups.ts";
import type { Guard, Wrap } from "./run-command.ts";
import type { Env } from "./check-environment.ts";
import type { PutBlob } from "./evidence.ts";
import type { TreeReader } from "./protected/read-change.ts";
import type { MakeFolder } from "./scratch.ts";
import type { VerdictCache } from "./verdicts.ts";

export type VerifierParts = {
  readonly workspace: Pick<
    Workspace,
    | "checkout"
    | "dropCheckout"
    | "requireIntact"
    | "foldersOf"
    | "treeOf"
    | "rewrittenIn"
    | "touchedIn"
    | "stampOf"
    | "dependenciesIn"
  > &
    TreeReader &
    ClaimsWorkspace;
  readonly putBlob: PutBlob;
  /** The isolation's name, as evidence records it. */
  readonly isolation: string;
  readonly product: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly wrap?: Wrap;
  /** The path at which `wrap` may show a checkout: removed from names, as the checkout's own is. */
  readonly shownAs?: string;
  /** The isolation in which `restores` run, if it differs from `wrap`. */
  readonly wrapRestore?: Wrap;
  readonly env?: Env;
  readonly guard?: Guard;
  /** Creates the folder of one command; default: in the system's temporary folder. */
  readonly scratch?: MakeFolder;
  /** Redacts evidence before it is stored; without it, only what looks like a secret. */
  readonly redactor?: Redactor;
  /**
   * Commands that restore dependencies in a clean folder before any check. Their results come
   * before the others.
   */
  readonly restores?: readonly Check[];
  /**
   * Set if the lock files of the tree under check decide how dependencies are restored, in place of
   * `restores`.
   */
  readonly restoreFrom?: "lockfile";
  /**
   * How often at most a check is run on one tree to find out whether it is flaky; default 3, 1
   * turns it off.
   */
  readonly repeatMax?: number;
  /** Checks known to be flaky, and until when. */
  readonly quarantine?: readonly Quarantine[];
  /** Globs of further protected files; with `!`, of files that are not protected. */
  readonly protect?: readonly string[];
  /**
   * When experiments show whether a passing check can fail: once all checks have passed (`final`,
   * the default), always, or never.
   */
  readonly canary?: "final" | "always" | "off";
  /** How long the experiments on one check may take; default ten minutes. */
  readonly canaryMinutes?: number;
  /**
   * Reads evidence back, so that what was judged once need not be run again. Without it everything
   * is run.
   */
  readonly readBlob?: (hash: Hash) => Promise<Uint8Array>;
  /**
   * Whether a path was last changed in a later commit than another, null if history does not show
   * it. Without it, `after` holds only between files this visit changed and files it did not.
   */
  readonly isLater?: (commit: GitSha, path: string, than: string) => Promise<boolean | null>;
};

/** What the parts of an open verifier share. */
export type OpenParts = VerifierParts & {
  readonly verdicts: VerdictCache | null;
  /** Results of experiments on passing checks, by the hash of the check's evidence. */
  readonly tried?: Map<string, CheckResult>;
};
