// runtime: everything the engine may use from outside: journal, agents, workspace, verifier,
// requests and clock.

import type { Usage } from "../contracts/budget.ts";
import type { Draft, Entry } from "../contracts/event.ts";
import type { AttemptId, GitSha, Hash } from "../contracts/ids.ts";
import type { ChildAsks, Facts } from "../contracts/outcome.ts";
import type { LiveEvent } from "../contracts/live-event.ts";
import type { OpenAttemptView, RunView, CursorView } from "../core/state.ts";
import type { Step } from "../contracts/flow.ts";
import type { Agents, TurnRequest } from "../ports/agent.ts";
import type { Clock } from "../ports/clock.ts";
import type { Functions } from "../ports/functions.ts";
import type { RequestQueue } from "../ports/request-queue.ts";
import type { TurnReceipts } from "../ports/turn-receipts.ts";
import type { Verifier } from "../ports/verifier.ts";
import type { Workspace } from "../ports/workspace.ts";

/** The prompt of one turn, rendered from the current run. */
export type TurnPrompt = Pick<TurnRequest, "prompt" | "returns" | "promise" | "cast">;

/** The turn a prompt is for: its run and cursor, its step, its open attempt. */
export type PromptTurn = {
  readonly run: RunView;
  readonly cursor: CursorView;
  readonly step: Step;
  readonly openAttempt: OpenAttemptView;
};

/**
 * A child run: another flow with its own journal. Running it again continues where its journal left
 * it.
 */
export interface ChildRuns {
  run(request: {
    readonly attempt: AttemptId;
    readonly flow: string;
    readonly options: Readonly<Record<string, string | number | boolean>>;
    readonly cancel: AbortSignal;
    /** The answer with which a child that waited for a person continues. */
    readonly answered?: ChildAnswer;
  }): Promise<ChildResult>;
}

export type ChildAnswer = Pick<ChildAsks, "run" | "block" | "spent"> & {
  readonly answer: string;
  readonly issues?: readonly string[];
  /** Who answered. */
  readonly actor: string;
};

/** The result of a child run. `work`: what it did on its own branch for its parent's. */
export type ChildResult = {
  readonly ok: boolean;
  readonly facts: Facts;
  readonly detail: string;
  readonly usage?: Usage;
  readonly work?: { readonly since: GitSha; readonly commit: GitSha };
  /** It waits for a person. */
  readonly asks?: ChildAsks;
};

/** Writes events: once `append` returns, they are durable. */
export interface Recorder {
  append(
    events: readonly (Draft & { readonly actor: string; readonly reason_code: string })[],
  ): Promise<readonly Entry[]>;
  putBlob(bytes: string | Uint8Array): Promise<Hash>;
  /** The blob, to continue after a crash; a recorder without this keeps only the lines. */
  readBlob?(hash: Hash): Promise<Uint8Array>;
}

/** Everything the engine uses from outside. What is not here, it cannot do. */
export type Runtime = {
  readonly journal: Recorder;
  readonly clock: Clock;
  readonly agents: Agents;
  readonly receipts: TurnReceipts;
  readonly workspace: Workspace;
  readonly verifier: Verifier;
  readonly functions: Functions<RunView, CursorView>;
  readonly children: ChildRuns;
  readonly requests: RequestQueue;
  readonly buildPrompt: (turn: PromptTurn) => Promise<TurnPrompt>;
  /** Called with each entry after the journal has acknowledged it and the state has moved. */
  readonly onEntry: (entry: Entry, run: RunView) => void;
  readonly onLiveEvent: (signal: LiveEvent) => void;
};
