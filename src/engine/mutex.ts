// mutex: a first-come mutex and a wake signal for the engine loop.

/**
 * Admits one at a time, in order of arrival, so that no decision is made on a state that is being
 * changed.
 */
export class Mutex {
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;

  async runExclusive<Value>(work: () => Promise<Value>): Promise<Value> {
    const gate = this.enter();
    if (gate !== null) await gate;
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  /**
   * Null if it was free: the caller holds it now. Else a promise that resolves when the caller
   * holds it. The holder must call `leave`.
   */
  enter(): Promise<void> | null {
    if (this.#isTaken) return new Promise((enter) => this.#waiting.push(enter));
    this.#isTaken = true;
    return null;
  }

  leave(): void {
    // It stays taken while it is handed on, so that no newcomer overtakes the one that waited.
    const enter = this.#waiting.shift();
    if (enter === undefined) this.#isTaken = false;
    else enter();
  }
}

/** `wait` resolves at the next `ring`, or at once if one came since the last `wait`. */
export class WakeSignal {
  #isRinging = false;
  #listener: (() => void) | null = null;

  ring(): void {
    this.#isRinging = this.#listener === null;
    this.#listener?.();
    this.#listener = null;
  }

  wait(): Promise<void> {
    if (!this.#isRinging) return new Promise((resolve) => (this.#listener = resolve));
    this.#isRinging = false;
    return Promise.resolve();
  }
}
