// request-queue: port to what other processes ask of a run: pause, stop, resume, answers, reviews
// and raised limits.

import type { EventOf } from "../contracts/event.ts";

/**
 * What another process may ask of a run: pause, stop, resume, raise a limit, answer a question,
 * note a review.
 */
export type RunRequest =
  | Omit<EventOf<"control_requested">, "reason_code">
  | Omit<EventOf<"limit_raised">, "reason_code">
  | Omit<EventOf<"review_noted">, "reason_code">
  | Omit<EventOf<"block_answered">, "reason_code">
  | Omit<EventOf<"run_resumed">, "reason_code" | "from_state" | "to_state">;

/**
 * Requests from other processes. They are stored until the owner has journaled them, each exactly
 * once by its key.
 */
export interface RequestQueue {
  /** Requests that have arrived and are not removed yet, oldest first. */
  pending(): Promise<readonly RunRequest[]>;
  /** The request is journaled, or can never fit: it may be removed. */
  forget(request: string): Promise<void>;
  /** Calls back when something may have arrived; the returned function ends that. */
  watch(callback: () => void): () => void;
}
