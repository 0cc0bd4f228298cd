// verifier: port to verification: runs checks, judges artifacts and tests claims in a clean
// checkout of a commit.

import type {
  Check,
  CheckResult,
  CheckStatus,
  ClaimChecked,
  ReviewPoint,
  ProtectedChange,
  TestTally,
} from "../contracts/evidence.ts";
import type { Gate, Proof } from "../contracts/flow.ts";
import type { AttemptId, GitSha, Hash } from "../contracts/ids.ts";
import type { LiveEvent } from "../contracts/live-event.ts";
import type { CheckoutOverrides } from "./workspace.ts";

export type ProofFailure = {
  readonly rule: string;
  readonly file: string | null;
  readonly found: string;
  readonly expected: string;
};
/** A file a gate accepts, and why it has no real content anyway. */
export type PlaceholderFile = { readonly file: string; readonly why: string };
export type ProofResult = {
  readonly holds: boolean;
  readonly failures: readonly ProofFailure[];
  readonly checks: readonly CheckResult[];
  /**
   * Files that satisfy the gates but have no content. They decide nothing here: a run that rests on
   * them has a gap.
   */
  readonly hollow?: readonly PlaceholderFile[];
  /** Files the gates inspected that have content. */
  readonly solid?: readonly string[];
};

/** Protected files to be taken from the base: those with these changes. */
export type BaseFiles = {
  readonly base: GitSha;
  readonly changes: readonly ProtectedChange[];
};

/** Checks to be run on a commit. */
export type CheckRequest = {
  readonly attempt: AttemptId;
  readonly checks: readonly Check[];
  readonly commit: GitSha;
  /**
   * The result of each check before, by its id: one that newly passes is run again before it is
   * believed.
   */
  readonly known?: Readonly<Record<string, CheckStatus>>;
  /** Protected files to be taken from the base: those with changes that are not allowed. */
  readonly fromBase?: BaseFiles;
  /**
   * Results in the journal: one on the same tree, command and environment is not run again if it
   * proves as much.
   */
  readonly recorded?: readonly CheckResult[];
  /**
   * What each check reported of its tests before anything was changed, by its id, if the
   * protected files are unchanged since.
   */
  readonly talliesBefore?: Readonly<Record<string, TestTally>>;
  /**
   * The evidence of each check from before anything was changed, by its id: tests that passed
   * beside a failure must still pass.
   */
  readonly evidenceBefore?: Readonly<Record<string, Hash>>;
  /**
   * The commit the run began on: a passing check is tried out, to see whether it could still
   * fail. Without it none is.
   */
  readonly base?: GitSha;
  /** The goal in the person's words: a data file that it names is part of the work. */
  readonly goal?: string;
  /**
   * Whether this is taken before anything is changed. It decides nothing by itself: a later check
   * inspects the shared files for both.
   */
  readonly isBaseline?: boolean;
  readonly cancel: AbortSignal;
  readonly onLiveEvent: (signal: LiveEvent) => void;
};

/** The protected files of a commit, beside those of the base. */
export type InspectProtectedRequest = {
  readonly base: GitSha;
  readonly commit: GitSha;
  /** The objective's scope: what it names explicitly may change. */
  readonly scope: readonly string[];
  /** The contents a person approved. */
  readonly approved: readonly Hash[];
  /** The contents that a person looks at before the work is merged. */
  readonly held?: readonly Hash[];
  /**
   * The goal in the person's words: what it names (`Date.now`, `process.env`) the work was asked
   * to read.
   */
  readonly goal?: string;
  /** The commands of checks: the scripts they run are protected files too. */
  readonly checks?: readonly Check[];
};

/** Changed protected files for which the base's are wanted. */
export type ComposeBaseFilesRequest = {
  readonly base: GitSha;
  readonly commit: GitSha;
  readonly changes: readonly ProtectedChange[];
  readonly commands: readonly string[];
};

/** What an agent said and returned, and what it is compared with. */
export type ClaimsRequest = {
  readonly attempt: AttemptId;
  readonly said: string;
  readonly claim: unknown;
  readonly commit: GitSha;
  readonly changed: readonly string[];
  /** Whether it claimed that everything is done. */
  readonly promised?: boolean;
  /** Its prompt: text it repeats from there is not its own claim. */
  readonly prompt?: string;
  /** The commit before its change, and the one the run began on. */
  readonly parent?: GitSha;
  readonly base?: GitSha;
  /** How many of its changes were left out because git ignores them. */
  readonly ignored?: number;
  /** Claims of an earlier turn that wait for checks; with these, nothing else is checked. */
  readonly waiting?: readonly ClaimChecked[];
  /** Results of the runner's own checks on this commit, if any. */
  readonly results: readonly CheckResult[];
  /**
   * Those that are worse than before the work began: an agent that broke something is not done.
   */
  readonly regressed?: readonly CheckResult[];
};

/** Artifact rules, and the commit they are judged on. */
export type ProveRequest = {
  readonly attempt: AttemptId;
  readonly gates: readonly (Gate | Proof)[];
  readonly commit: GitSha;
  readonly changed: readonly string[];
  /**
   * The commit the run began on: only what differs from it is measured. Without it, only what
   * this visit changed.
   */
  readonly base?: GitSha;
  /** The prompt: text that an artifact only repeats from it is not its content. */
  readonly prompt?: string;
  /** Protected files to be taken from the base for the gates' own commands. */
  readonly fromBase?: BaseFiles;
  readonly cancel: AbortSignal;
  readonly onLiveEvent: (signal: LiveEvent) => void;
};

/** Which protected files differ from the base; `content`: a hash of exactly that content. */
export type ProtectedFiles = {
  readonly content: Hash;
  readonly changes: readonly ProtectedChange[];
  readonly reviewPoints?: readonly ReviewPoint[];
  /** Checks that ask for a rule or script which the base has not: nothing there can judge them. */
  readonly newChecks?: readonly Check["id"][];
  /** Whether the work changed anything beside tests and what else judges it. */
  readonly changesOtherFiles?: boolean;
};

/** Makes evidence: runs commands and reads artifacts itself, in a clean checkout of a commit. */
export interface Verifier {
  check(request: CheckRequest): Promise<readonly CheckResult[]>;
  /**
   * Which protected files differ from the base, with a hash of exactly that content. Reads only.
   */
  inspectProtected(request: InspectProtectedRequest): Promise<ProtectedFiles>;
  /**
   * The base's protected files in place of those with these changes: what a verdict is taken with,
   * or what is put back.
   */
  composeBaseFiles(request: ComposeBaseFilesRequest): Promise<CheckoutOverrides>;
  /**
   * Checks an agent's claims one by one. A claim that only a check can decide is unverifiable and
   * names what it waits for.
   */
  checkClaims(request: ClaimsRequest): Promise<readonly ClaimChecked[]>;
  /**
   * Judges artifact rules on a commit's tree; `changed` are the paths this visit changed (for
   * `fresh`). Named proofs are resolved before.
   */
  prove(request: ProveRequest): Promise<ProofResult>;
}
