/** Lets one in at a time, in the order of arrival, so that nobody decides on a state that another is just changing. */
export class Turnstile {
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;

  async pass<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#isTaken) await new Promise<void>((enter) => this.#waiting.push(enter));
    this.#isTaken = true;
    try {
      return await work();
    } finally {
      // It stays taken while it is handed on, so that nobody slips in before the one who has waited.
      const enter = this.#waiting.shift();
      if (enter === undefined) this.#isTaken = false;
      else enter();
    }
  }
}

/** A bell: `rung` resolves at the next `ring`, also at one that came since the last `rung`. */
export class Bell {
  #hasRung = false;
  #listener: (() => void) | null = null;

  ring(): void {
    this.#hasRung = true;
    this.#listener?.();
  }

  async rung(): Promise<void> {
    if (!this.#hasRung) await new Promise<void>((resolve) => (this.#listener = resolve));
    this.#listener = null;
    this.#hasRung = false;
  }
}
