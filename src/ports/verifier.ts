import type { Check, CheckResult, CheckStatus, ClaimChecked, OracleChange } from "../contracts/evidence.ts";
import type { Gate, Proof } from "../contracts/flow.ts";
import type { AttemptId, GitSha, Hash } from "../contracts/ids.ts";
import type { Signal } from "../contracts/signal.ts";

export type ProofFailure = { readonly rule: string; readonly file: string | null; readonly found: string; readonly expected: string };
export type ProofResult = { readonly holds: boolean; readonly failures: readonly ProofFailure[]; readonly checks: readonly CheckResult[] };

/** Makes evidence: runs commands and reads artifacts itself, in a clean checkout of a commit. */
export interface Verifier {
  check(order: {
    readonly attempt: AttemptId;
    readonly checks: readonly Check[];
    readonly commit: GitSha;
    /** What each check came to before, by its id: one that newly passes is run again before it is believed. */
    readonly known?: Readonly<Record<string, CheckStatus>>;
    /** Oracles to be taken from the base: those of the changes that are not allowed. */
    readonly oracles?: { readonly base: GitSha; readonly changes: readonly OracleChange[] };
    readonly cancel: AbortSignal;
    readonly onSignal: (signal: Signal) => void;
  }): Promise<readonly CheckResult[]>;
  /** What of the oracles differs from the base, with a name for exactly that content. Reads only. */
  oracles(order: {
    readonly base: GitSha;
    readonly commit: GitSha;
    /** The objective's scope: what it names explicitly may change. */
    readonly scope: readonly string[];
    /** The contents a person approved. */
    readonly approved: readonly Hash[];
  }): Promise<{ readonly content: Hash; readonly changes: readonly OracleChange[] }>;
  /** Looks up, one by one, what an agent said. */
  claims(order: {
    readonly attempt: AttemptId;
    readonly said: string;
    readonly claim: unknown;
    readonly commit: GitSha;
    readonly changed: readonly string[];
    /** Results of the runner's own checks on this commit, where there are any. */
    readonly results: readonly CheckResult[];
  }): Promise<readonly ClaimChecked[]>;
  /** Judges artifact rules on a commit's tree; `changed` are the paths this visit changed (for `fresh`). Named proofs are resolved before. */
  prove(order: {
    readonly attempt: AttemptId;
    readonly gates: readonly (Gate | Proof)[];
    readonly commit: GitSha;
    readonly changed: readonly string[];
    readonly cancel: AbortSignal;
    readonly onSignal: (signal: Signal) => void;
  }): Promise<ProofResult>;
}
