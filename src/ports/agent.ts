// agent: port to agents: the order for one turn and what the turn returns.

import type { Usage } from "../contracts/budget.ts";
import type { Cast, ProviderFault } from "../contracts/event.ts";
import type { AttemptId, RunId } from "../contracts/ids.ts";
import type { Says } from "../contracts/outcome.ts";
import type { ReasonCode } from "../contracts/reason.ts";
import type { TurnFacts } from "../contracts/script.ts";
import type { LiveEvent } from "../contracts/live-event.ts";
import type { TranscriptKept } from "../contracts/transcript.ts";

/**
 * One turn of an agent: which agent, what is asked, where it works, how long it may take, and how
 * it is cancelled.
 */
export type TurnRequest = {
  readonly run: RunId;
  readonly attempt: AttemptId;
  readonly cast: Cast;
  readonly facts: TurnFacts;
  /** The turns begun before this one, in order of position. */
  readonly history: readonly TurnFacts[];
  /** The whole prompt, rendered. */
  readonly prompt: string;
  /** JSON Schema of the value to return; null if the step returns nothing. */
  readonly returns: {
    readonly name: string;
    readonly schema: object;
    readonly isOptional: boolean;
  } | null;
  readonly promise: string | null;
  /** The return of the previous attempt. */
  readonly previous?: unknown;
  /** The folder the agent works in, absolute. */
  readonly layer: string;
  readonly minutesMax: number;
  /** Globs (`!` excludes). Paths in permission requests are compared with them. */
  readonly scope: readonly string[];
  /**
   * The session to resume: if the flow says `continues`, or this attempt's own from before a crash.
   */
  readonly session: string | null;
  /**
   * The session may have this very prompt already: then the agent is told to continue instead of
   * being asked the same twice.
   */
  readonly isInterrupted: boolean;
  /**
   * What the run and its phase have left after paid usage; live, so that parallel turns share it.
   */
  readonly allowanceLeft: () => Allowance;
  /** Whether what this turn uses is still outside the ledger that `allowanceLeft` is read from. */
  readonly isUnpaid: () => boolean;
  /** Aborted by pause --now, stop, or a spent budget. */
  readonly cancel: AbortSignal;
  /** Called as soon as the session has a name; awaited before the prompt is sent. */
  readonly onSession: (session: string, how?: "new" | "resumed" | "loaded") => Promise<void>;
  /** Called before an invalid return is asked for again; false: do not ask. */
  readonly onAskAgain: (
    ask: number,
    errors: readonly string[],
    raw: string,
    usage: ReportedUsage,
  ) => Promise<boolean>;
  readonly onLiveEvent: (signal: LiveEvent) => void;
};

/** Infinity without a limit. */
export type Allowance = { readonly tokens: number; readonly usd: number; readonly calls: number };

/**
 * What a turn used, by the meter's count or the agent's report, as far as it can be believed; null
 * if unknown.
 */
export type ReportedUsage =
  | (Omit<Usage, "source" | "calls" | "minutes"> & {
      readonly calls: number;
      readonly source?: Usage["source"];
    })
  | null;

/**
 * How a turn ended, and the path of its transcript if one was kept. An agent never throws:
 * refusing, failing and hanging are results.
 */
export type TurnResult = TurnEnd & { readonly transcript?: TranscriptKept };

type TurnEnd =
  | {
      readonly kind: "ended";
      readonly stop: string;
      readonly said: string;
      readonly says: Says;
      /** The whole return, as handed back; a claim, never evidence. */
      readonly claim: unknown;
      readonly promised: boolean;
      readonly announcedMore: boolean;
      readonly confidence: number | null;
      readonly usage: ReportedUsage;
      /** Paths outside the layer that the agent's own tool calls name as changed. */
      readonly outside: readonly string[];
      readonly warnings: readonly string[];
      /** Notes of the agent for the log. */
      readonly notes: readonly string[];
      /** A question only a person can answer; the turn ended with it. */
      readonly question: string | null;
      /** The answers it offers, if any. */
      readonly answers?: readonly string[];
    }
  | {
      readonly kind: "failed";
      readonly reason: ReasonCode;
      readonly detail: string;
      readonly said: string;
      readonly usage: ReportedUsage;
    }
  | {
      readonly kind: "cut";
      readonly by: "cancel" | "deadline" | "budget";
      readonly detail: string;
      readonly usage: ReportedUsage;
    }
  | {
      readonly kind: "cut";
      readonly by: "provider";
      readonly fault: ProviderFault;
      /** Whether the agent had worked by then: one whose first call was refused used nothing. */
      readonly hasWorked?: boolean;
      /** When the limit is lifted, ISO 8601 in UTC, where the provider said so. */
      readonly resetAt: string | null;
      readonly detail: string;
      readonly usage: ReportedUsage;
    };

export interface Agents {
  turn(request: TurnRequest): Promise<TurnResult>;
  /**
   * Ends every process of this run that an earlier process left alive, and none that this one
   * started; returns how many there were.
   */
  sweep(run: RunId): Promise<number>;
}
