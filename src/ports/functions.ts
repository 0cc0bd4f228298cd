// functions: port to the runner's own functions that flows call: steps, proofs, and readers of
// phases and tasks.

import type { Check, CheckResult } from "../contracts/evidence.ts";
import type { PhaseRead, TaskRead } from "../contracts/documents-read.ts";
import type { AttemptId } from "../contracts/ids.ts";
import type { Facts, Outcome } from "../contracts/outcome.ts";
import type { LiveEvent } from "../contracts/live-event.ts";
import type { AppliedCommit } from "./workspace.ts";

/** The result of a runner function. */
export type FunctionResult = {
  readonly ok: boolean;
  readonly facts: Facts;
  readonly reason?: string;
  readonly detail?: string;
  readonly checks?: readonly CheckResult[];
  /** Checks that judge this cursor from here on, replacing those it had. */
  readonly locks?: readonly Check[];
  /** A commit it made on the run's branch, under its attempt's key. */
  readonly applied?: AppliedCommit;
  readonly differed?: readonly DocumentDiffered[];
  /**
   * It changed something outside the run and is finished: recorded even if the step was cancelled
   * meanwhile.
   */
  readonly stands?: true;
};

/**
 * A document that others may write differs from what is recorded: which of the two holds, and why.
 */
export type DocumentDiffered = {
  readonly path: string;
  readonly field: string;
  readonly found: string;
  readonly kept: string;
  readonly because: string;
};

/**
 * `none`: only reads. `idempotent`: may be done twice. `keyed`: leaves its key in the world, so
 * that it is found and not done twice.
 */
export type Effect = "none" | "idempotent" | "keyed";

/**
 * The runner's own actions, by name: what `run:` steps, named proofs, readers and check groups
 * stand for. `State` and `Cursor` are the core's views; a port imports no layer above it, so they
 * are type parameters.
 */
export interface Functions<State, Cursor> {
  readonly run: Readonly<
    Record<
      string,
      {
        readonly version: number;
        readonly effect: Effect;
        readonly perform: (input: FunctionInput<State, Cursor>) => Promise<FunctionResult>;
        readonly isDone?: (attempt: AttemptId) => Promise<boolean>;
      }
    >
  >;
  readonly proof: Readonly<
    Record<
      string,
      {
        readonly version: number;
        readonly prove: (input: FunctionInput<State, Cursor>) => Promise<FunctionResult>;
      }
    >
  >;
  readonly phases: Readonly<
    Record<string, (state: State) => Promise<readonly PhaseFound[] | Unreadable>>
  >;
  readonly tasks: Readonly<
    Record<
      string,
      (
        state: State,
        cursor: Cursor,
      ) => Promise<{ readonly tasks: readonly TaskFound[] } | { readonly problem: string }>
    >
  >;
}

/**
 * Why phases cannot be read: the run pauses with it, under this reason code (default
 * `phases_invalid`), and reads again when resumed.
 */
export type Unreadable = { readonly problem: string; readonly code?: string };
/** A phase as a reader found it. `skip`: it is not run, for this reason. */
export type PhaseFound = PhaseRead;
/**
 * A task as a reader found it: what it may touch, what it comes after. No two share one id, and
 * none waits for itself.
 */
export type TaskFound = Readonly<TaskRead>;

export type FunctionInput<State, Cursor> = {
  readonly attempt: AttemptId;
  readonly state: State;
  readonly cursor: Cursor;
  readonly commit: string;
  readonly changed: readonly string[];
  /** This step's last return, in any round. */
  readonly previous: Readonly<Outcome> | null;
  /** The outcomes of the steps that its `sees` names. */
  readonly sees: Readonly<Record<string, Readonly<Outcome>>>;
  readonly cancel: AbortSignal;
  readonly onLiveEvent: (signal: LiveEvent) => void;
};
