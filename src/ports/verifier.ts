// verifier: port to verification: runs checks, judges artifacts and tests claims in a clean checkout of a commit.

import type { Check, CheckResult, CheckStatus, ClaimChecked, LookAt, ProtectedChange, TestTally } from "../contracts/evidence.ts";
import type { Gate, Proof } from "../contracts/flow.ts";
import type { AttemptId, GitSha, Hash } from "../contracts/ids.ts";
import type { LiveEvent } from "../contracts/signal.ts";

export type ProofFailure = { readonly rule: string; readonly file: string | null; readonly found: string; readonly expected: string };
/** A file a gate holds on, and why there is nothing in it anyway. */
export type PlaceholderFile = { readonly file: string; readonly why: string };
export type ProofResult = {
  readonly holds: boolean;
  readonly failures: readonly ProofFailure[];
  readonly checks: readonly CheckResult[];
  /** Files that hold the gates and hold nothing. They decide nothing here: a run that rests on them has a gap. */
  readonly hollow?: readonly PlaceholderFile[];
  /** Files the gates looked at that hold something. */
  readonly solid?: readonly string[];
};

/** Makes evidence: runs commands and reads artifacts itself, in a clean checkout of a commit. */
export interface Verifier {
  check(order: {
    readonly attempt: AttemptId;
    readonly checks: readonly Check[];
    readonly commit: GitSha;
    /** The result of each check before, by its id: one that newly passes is run again before it is believed. */
    readonly known?: Readonly<Record<string, CheckStatus>>;
    /** Oracles to be taken from the base: those of the changes that are not allowed. */
    readonly oracles?: { readonly base: GitSha; readonly changes: readonly ProtectedChange[] };
    /** Results the journal holds: one on the same tree, command and environment is not run again where that proves as much. */
    readonly recorded?: readonly CheckResult[];
    /** What each check said of its tests before anything was changed, by its id, where what judges is what it was then. */
    readonly tests?: Readonly<Record<string, TestTally>>;
    /** The evidence of each check from before anything was changed, by its id: what passed beside a failure is to pass still. */
    readonly before?: Readonly<Record<string, Hash>>;
    /** The commit the run began on: a check that passes is tried out, to see whether it could still fail. Without it none is. */
    readonly base?: GitSha;
    /** What was asked for, in a person's words: a file of data that they name is the work. */
    readonly goal?: string;
    readonly cancel: AbortSignal;
    readonly onLiveEvent: (signal: LiveEvent) => void;
  }): Promise<readonly CheckResult[]>;
  /** What of the protected files differs from the base, with a name for exactly that content. Reads only. */
  oracles(order: {
    readonly base: GitSha;
    readonly commit: GitSha;
    /** The objective's scope: what it names explicitly may change. */
    readonly scope: readonly string[];
    /** The contents a person approved. */
    readonly approved: readonly Hash[];
    /** The commands that decide: what they run is a protected file too. */
    readonly checks?: readonly Check[];
  }): Promise<{ readonly content: Hash; readonly changes: readonly ProtectedChange[]; readonly look?: readonly LookAt[] }>;
  /** Looks up, one by one, what an agent said. What only a check can decide is unverifiable and says what it waits for. */
  claims(order: {
    readonly attempt: AttemptId;
    readonly said: string;
    readonly claim: unknown;
    readonly commit: GitSha;
    readonly changed: readonly string[];
    /** Whether it promised that all is done. */
    readonly promised?: boolean;
    /** What it was told: what it repeats of that is not its own word. */
    readonly prompt?: string;
    /** The commit before its change, and the one the run began on. */
    readonly parent?: GitSha;
    readonly base?: GitSha;
    /** How many of its changes were left out because git ignores them. */
    readonly ignored?: number;
    /** Claims of an earlier turn that wait for checks; with them, nothing else is looked up. */
    readonly waiting?: readonly ClaimChecked[];
    /** Results of the runner's own checks on this commit, if there are any. */
    readonly results: readonly CheckResult[];
    /** Those of them that are worse than before the work began: who broke what held is not done. */
    readonly regressed?: readonly CheckResult[];
  }): Promise<readonly ClaimChecked[]>;
  /** Judges artifact rules on a commit's tree; `changed` are the paths this visit changed (for `fresh`). Named proofs are resolved before. */
  prove(order: {
    readonly attempt: AttemptId;
    readonly gates: readonly (Gate | Proof)[];
    readonly commit: GitSha;
    readonly changed: readonly string[];
    /** The commit the run began on: only what differs from it is measured. Without it, only what this visit changed. */
    readonly base?: GitSha;
    /** What the agent was told: what an artifact only repeats of it is not its content. */
    readonly prompt?: string;
    /** Oracles to be taken from the base for the gates' own commands. */
    readonly oracles?: { readonly base: GitSha; readonly changes: readonly ProtectedChange[] };
    readonly cancel: AbortSignal;
    readonly onLiveEvent: (signal: LiveEvent) => void;
  }): Promise<ProofResult>;
}
