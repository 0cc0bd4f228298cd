// mutex: a first-come mutex for the engine loop.

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
