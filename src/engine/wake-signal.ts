// wake-signal: wakes the engine loop, or whatever else waits for news.

import { invariant } from "../kit/invariant.ts";

/**
 * `wait` resolves at the next `ring`, or at once if one came since the last `wait`. One waiter at a
 * time: a second one would take the first one's place, which would wait for ever.
 */
export class WakeSignal {
  #isRinging = false;
  #listener: (() => void) | null = null;

  ring(): void {
    this.#isRinging = this.#listener === null;
    this.#listener?.();
    this.#listener = null;
  }

  wait(): Promise<void> {
    invariant(this.#listener === null, "one waits for a wake signal at a time");
    if (!this.#isRinging) return new Promise((resolve) => (this.#listener = resolve));
    this.#isRinging = false;
    return Promise.resolve();
  }
}
