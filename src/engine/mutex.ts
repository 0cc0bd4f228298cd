// mutex: a first-come mutex and a wake signal for the engine loop.

/** Lets one in at a time, in the order of arrival, so that nobody decides on a state that another is just changing. */
export class Mutex {
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;

  async pass<Value>(work: () => Promise<Value>): Promise<Value> {
    const gate = this.enter();
    if (gate !== null) await gate;
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  /** Null if the way is free: whoever asked is in. Else it resolves when they are. Whoever is in must leave. */
  enter(): Promise<void> | null {
    if (this.#isTaken) return new Promise((enter) => this.#waiting.push(enter));
    this.#isTaken = true;
    return null;
  }

  leave(): void {
    // It stays taken while it is handed on, so that nobody slips in before the one who has waited.
    const enter = this.#waiting.shift();
    if (enter === undefined) this.#isTaken = false;
    else enter();
  }
}

/** A bell: `rung` resolves at the next `ring`, also at one that came since the last `rung`. */
export class WakeSignal {
  #hasRung = false;
  #listener: (() => void) | null = null;

  ring(): void {
    this.#hasRung = this.#listener === null;
    this.#listener?.();
    this.#listener = null;
  }

  rung(): Promise<void> {
    if (!this.#hasRung) return new Promise((resolve) => (this.#listener = resolve));
    this.#hasRung = false;
    return Promise.resolve();
  }
}
