// heap: keeps numbers so that the smallest is always the next one out.

export type Heap = {
  readonly push: (value: number) => void;
  /** The smallest; undefined if there is none. */
  readonly pop: () => number | undefined;
};

/** A binary heap: the children of the value at `index` are at `2 * index + 1` and behind it. */
export function createHeap(): Heap {
  const heap: number[] = [];
  const valueAt = (index: number): number => heap[index] ?? Number.POSITIVE_INFINITY;
  const swap = (left: number, right: number): void => {
    [heap[left], heap[right]] = [valueAt(right), valueAt(left)];
  };

  /** Moves a value up until its parent is no larger. */
  function moveUp(from: number): void {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (valueAt(parent) <= valueAt(index)) return;
      swap(parent, index);
      index = parent;
    }
  }

  /** Moves a value down until no child is smaller. */
  function moveDown(from: number): void {
    let index = from;
    for (;;) {
      const left = 2 * index + 1;
      const smallerChild = valueAt(left + 1) < valueAt(left) ? left + 1 : left;
      if (valueAt(smallerChild) >= valueAt(index)) return;
      swap(smallerChild, index);
      index = smallerChild;
    }
  }

  return {
    push: (value) => {
      heap.push(value);
      moveUp(heap.length - 1);
    },
    pop: () => {
      const smallest = heap[0];
      const last = heap.pop();
      if (heap.length === 0 || last === undefined) return smallest;
      heap[0] = last;
      moveDown(0);

      return smallest;
    },
  };
}
