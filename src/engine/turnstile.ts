/** Lets one in at a time, in the order of arrival, so that nobody decides on a state that another is just changing. */
export class Turnstile {
  #last: Promise<unknown> = Promise.resolve();

  pass<Value>(work: () => Promise<Value>): Promise<Value> {
    const mine = this.#last.then(work, work);
    this.#last = mine.catch(() => undefined);
    return mine;
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
