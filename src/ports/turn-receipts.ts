// turn-receipts: port to the receipts of paid turns: room that is taken before a turn begins, in
// which its outcome is kept until the run's branch has its work.

import type { EventOf } from "../contracts/event.ts";
import type { AttemptId } from "../contracts/ids.ts";

/**
 * What is known of a turn when it ends: its line, but for what is read from the layer, and all that
 * the agent said and returned.
 */
export type EndedTurn = {
  readonly event: EventOf<"turn_ended">;
  readonly report: { readonly said: string; readonly claim: unknown };
};

export interface TurnReceipts {
  /** Takes the room. Throws if the disk has none: then nothing is paid for. */
  reserve(attempt: AttemptId): void;
  /**
   * Keeps the outcome in that room, which needs no more of the disk. What can't be kept is left to
   * the journal.
   */
  keep(attempt: AttemptId, turn: EndedTurn): void;
  /** The outcome that was kept; null if the turn has not ended. */
  read(attempt: AttemptId): EndedTurn | null;
  /** Gives the room back. */
  drop(attempt: AttemptId): void;
}
