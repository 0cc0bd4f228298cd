// cancel: a cancellation flag for a step, with an AbortSignal that is created only when it is read.

/** Whether an action has been cancelled, and the signal that says so to whoever listens. Most actions end without anybody asking for it. */
export class Cancel {
  #controller: AbortController | null = null;
  #reason: string | null = null;

  get isCancelled(): boolean {
    return this.#reason !== null;
  }

  /** Made when it is first asked for: a signal costs as much as all of an attempt's lines in the journal. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#reason !== null) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** The first reason stands. */
  abort(reason: string): void {
    this.#reason ??= reason;
    this.#controller?.abort(reason);
  }
}

const own = Symbol("cancel");
/** One getter for all of them: one of its own would cost each order more than the signal does. */
const lazily: PropertyDescriptor & ThisType<{ readonly [own]: Cancel }> = {
  get() {
    return this[own].signal;
  },
  enumerable: true,
  configurable: true,
};

type Cancellable = { readonly cancel: AbortSignal };

/** The same order with the signal under `cancel`, which is made when it is first read. */
export function withSignal<Order extends object>(order: Order, cancel: Cancel): Order & Cancellable {
  const whole: unknown = Object.defineProperty(Object.assign(order, { [own]: cancel }), "cancel", lazily);
  return whole as Order & Cancellable;
}
