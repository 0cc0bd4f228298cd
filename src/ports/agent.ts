import type { Usage } from "../contracts/budget.ts";
import type { Cast } from "../contracts/event.ts";
import type { AttemptId, RunId } from "../contracts/ids.ts";
import type { Says } from "../contracts/outcome.ts";
import type { ReasonCode } from "../contracts/reason.ts";
import type { TurnFacts } from "../contracts/script.ts";
import type { Signal } from "../contracts/signal.ts";

/** One turn of an agent: who plays, what is asked, where it works, how long it may take, and how it is called off. */
export type TurnOrder = {
  readonly run: RunId;
  readonly attempt: AttemptId;
  readonly cast: Cast;
  readonly facts: TurnFacts;
  /** The turns begun before this one, in the order of their places. */
  readonly history: readonly TurnFacts[];
  /** The whole prompt, rendered. */
  readonly prompt: string;
  /** What must be handed back: a JSON Schema, or null where nothing is asked for. */
  readonly returns: { readonly name: string; readonly schema: object; readonly isOptional: boolean } | null;
  readonly promise: string | null;
  /** The folder the agent works in, absolute. */
  readonly layer: string;
  readonly minutesMax: number;
  /** The session to take up again, where the flow says `continues`. */
  readonly session: string | null;
  /** Aborted by pause --now, stop, or a spent budget. */
  readonly cancel: AbortSignal;
  /** Called as soon as the session has a name; awaited before the prompt is sent. */
  readonly onSession: (session: string) => Promise<void>;
  /** Called before an invalid return is asked for again; false: do not ask. */
  readonly onAskAgain: (ask: number, errors: readonly string[], raw: string, usage: ReportedUsage) => Promise<boolean>;
  readonly onSignal: (signal: Signal) => void;
};

/** What the agent reported, as far as it can be believed; null where it reported nothing. */
export type ReportedUsage = (Omit<Usage, "source" | "calls" | "minutes"> & { readonly calls: number }) | null;

/** How a turn ended. An agent never throws for what agents do: refusing, failing and hanging are results. */
export type TurnResult =
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
    }
  | { readonly kind: "failed"; readonly reason: ReasonCode; readonly detail: string; readonly said: string; readonly usage: ReportedUsage }
  | { readonly kind: "cut"; readonly by: "cancel" | "deadline" | "provider"; readonly detail: string; readonly usage: ReportedUsage };

export interface Agents {
  turn(order: TurnOrder): Promise<TurnResult>;
  /** Ends every process of this run that an earlier life left alive, and none that this one began; says how many there were. */
  sweep(run: RunId): Promise<number>;
}
