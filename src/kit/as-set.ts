// as-set: gives a list the interface of a set. A sorted list, such as all files of a large tree, is
// searched as it is, so that it isn't copied. For any other list a set is made, once for as long as
// the list exists.

export type StringSet = Pick<ReadonlySet<string>, "has" | "size"> & Iterable<string>;

const sets = new WeakMap<readonly string[], StringSet>();

export function asSet(list: readonly string[]): StringSet {
  const set = sets.get(list) ?? (isAscending(list) ? createSortedSet(list) : new Set(list));
  sets.set(list, set);
  return set;
}

function isAscending(list: readonly string[]): boolean {
  for (let index = 1; index < list.length; index += 1) {
    if ((list[index - 1] ?? "") >= (list[index] ?? "")) return false;
  }

  return true;
}

const createSortedSet = (list: readonly string[]): StringSet => ({
  size: list.length,
  has: (value) => {
    let [from, to] = [0, list.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((list[middle] ?? "") < value) from = middle + 1;
      else to = middle;
    }

    return list[from] === value;
  },
  [Symbol.iterator]: () => list[Symbol.iterator](),
});
