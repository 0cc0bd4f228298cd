// cancel: a cancellation flag for a step, with an AbortSignal that is created only when it is read.

/**
 * Whether an execution has been cancelled, and the signal for it, which most executions end without
 * reading.
 */
export class Cancel {
  #controller: AbortController | null = null;
  #reason: string | null = null;

  get isCancelled(): boolean {
    return this.#reason !== null;
  }

  /** Created when first read: a signal costs as much as all of an attempt's journal lines. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#reason !== null) this.#controller.abort(this.#reason);
    }

    return this.#controller.signal;
  }

  /** The first reason counts. */
  abort(reason: string): void {
    this.#reason ??= reason;
    this.#controller?.abort(reason);
  }
}

const cancelKey = Symbol("cancel");
/** One getter for all requests: creating one per request would cost more than the signal does. */
const lazySignal: PropertyDescriptor & ThisType<{ readonly [cancelKey]: Cancel }> = {
  get() {
    return this[cancelKey].signal;
  },
  enumerable: true,
  configurable: true,
};

type Cancellable = { readonly cancel: AbortSignal };

/**
 * Adds the signal to the request under `cancel`, created when first read; returns the same object.
 */
export function withSignal<Request extends object>(
  request: Request,
  cancel: Cancel,
): Request & Cancellable {
  const requestWithSignal: unknown = Object.defineProperty(
    Object.assign(request, { [cancelKey]: cancel }),
    "cancel",
    lazySignal,
  );
  return requestWithSignal as Request & Cancellable;
}
