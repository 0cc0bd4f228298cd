// queue: runs async work one at a time in order; a failure does not block the next.

/** The returned function adds an action to the queue and resolves with its result. */
export function openQueue(): <T>(action: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (action) => {
    const result = last.then(action, action);
    last = result.catch(() => undefined);
    return result;
  };
}
