/** Runs deeds one after the other, in the order they came; one that fails does not hold up the next. */
export function openQueue(): <T>(deed: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (deed) => {
    const mine = last.then(deed, deed);
    last = mine.catch(() => undefined);
    return mine;
  };
}
