// queue: runs async work one at a time in order; a failure does not block the next.

/** Runs actions one after the other, in order; one that fails does not block the next. */
export function openQueue(): <T>(action: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (action) => {
    const mine = last.then(action, action);
    last = mine.catch(() => undefined);
    return mine;
  };
}
