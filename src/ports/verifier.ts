import type { Check, CheckResult } from "../contracts/evidence.ts";
import type { Gate, Proof } from "../contracts/flow.ts";
import type { AttemptId, GitSha } from "../contracts/ids.ts";
import type { Signal } from "../contracts/signal.ts";

export type ProofFailure = { readonly rule: string; readonly file: string | null; readonly found: string; readonly expected: string };
export type ProofResult = { readonly holds: boolean; readonly failures: readonly ProofFailure[]; readonly checks: readonly CheckResult[] };

/** Makes evidence: runs commands and reads artifacts itself, in a clean checkout of a commit. */
export interface Verifier {
  check(order: {
    readonly attempt: AttemptId;
    readonly checks: readonly Check[];
    readonly commit: GitSha;
    readonly cancel: AbortSignal;
    readonly onSignal: (signal: Signal) => void;
  }): Promise<readonly CheckResult[]>;
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
