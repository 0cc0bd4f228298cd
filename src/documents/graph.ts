// graph: sorts nodes by their dependencies, and finds cycles among them.
//
// Invariants:
//   G1. Sorting takes O((nodes + edges) · log nodes) time, by a heap; a roadmap may have thousands
//       of phases.
//   G2. The result does not depend on the order of the input.

export type DependencyNode = { readonly id: string; readonly after: readonly string[] };

/**
 * Every node after those it depends on, the smallest possible one first. Nodes in a cycle, and
 * those that wait for one, come last. Unknown names are ignored. Nodes that `isWanted` refuses are
 * left out, but dependencies through them still count.
 */
export function sortTopologically(
  nodes: readonly DependencyNode[],
  compare: (a: string, b: string) => number,
  isWanted: (id: string) => boolean = () => true,
): readonly string[] {
  const sorted = nodes.toSorted((a, b) => compare(a.id, b.id)); // G2
  const rankOf = new Map(sorted.map(({ id }, rank) => [id, rank]));
  // A node that depends on itself has one dependency that is never met.
  const openDependencies = sorted.map(
    ({ after }) => new Set(after.filter((dependency) => rankOf.has(dependency))).size,
  );

  const followers: number[][] = sorted.map(() => []);
  for (const [rank, { id, after }] of sorted.entries()) {
    for (const before of new Set(after)) {
      if (before !== id) followers[rankOf.get(before) ?? -1]?.push(rank);
    }
  }

  const ordered: string[] = [];
  const unwanted: number[] = []; // taken first, so that they delay no other node
  const ready = createHeap(); // G1
  const markReady = (rank: number): void => {
    if (isWanted(sorted[rank]?.id ?? "")) ready.push(rank);
    else unwanted.push(rank);
  };
  for (const [rank, count] of openDependencies.entries()) if (count === 0) markReady(rank);
  const doneRanks = new Set<number>();

  for (
    let rank = unwanted.pop() ?? ready.pop();
    rank !== undefined;
    rank = unwanted.pop() ?? ready.pop()
  ) {
    const id = sorted[rank]?.id ?? "";
    doneRanks.add(rank);
    if (isWanted(id)) ordered.push(id);
    for (const follower of followers[rank] ?? []) {
      openDependencies[follower] = (openDependencies[follower] ?? 0) - 1;
      if (openDependencies[follower] === 0) markReady(follower);
    }
  }

  const stuck = sorted
    .filter(({ id }, rank) => !doneRanks.has(rank) && isWanted(id))
    .map(({ id }) => id);
  return [...ordered, ...stuck];
}

/**
 * One cycle of every strongly connected component, closed (`3 5 3`) and starting with its smallest
 * node.
 */
export function findCycles(
  nodes: readonly DependencyNode[],
  compare: (a: string, b: string) => number,
): readonly (readonly string[])[] {
  const sorted = nodes.toSorted((a, b) => compare(a.id, b.id));
  const afterOf = new Map(sorted.map(({ id }) => [id, [] as string[]]));

  for (const { id, after } of sorted) {
    afterOf.set(
      id,
      [...new Set(after)].filter((dependency) => afterOf.has(dependency)).sort(compare),
    );
  }

  return findComponents(
    sorted.map(({ id }) => id),
    afterOf,
  ).flatMap((component) => {
    const members = new Set(component);
    const start = component.toSorted(compare)[0] ?? "";
    const cycle = findShortestCycle(start, (id) =>
      (afterOf.get(id) ?? []).filter((dependency) => members.has(dependency)),
    );

    return cycle === null ? [] : [cycle];
  });
}

/**
 * Tarjan's strongly connected components, without recursion, so that a long chain does not overflow
 * the stack.
 */
function findComponents(
  ids: readonly string[],
  afterOf: ReadonlyMap<string, readonly string[]>,
): string[][] {
  const indexes = new Map<string, number>();
  const lowLinks = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();
  const components: string[][] = [];

  for (const root of ids) {
    if (indexes.has(root)) continue;
    const path: { readonly id: string; next: number }[] = [];

    const enter = (id: string): void => {
      indexes.set(id, indexes.size);
      lowLinks.set(id, indexes.size - 1);
      stack.push(id);
      onStack.add(id);
      path.push({ id, next: 0 });
    };
    enter(root);

    for (let frame = path.at(-1); frame !== undefined; frame = path.at(-1)) {
      const { id } = frame;
      const next = afterOf.get(id)?.[frame.next];
      frame.next += 1;

      if (next !== undefined) {
        if (!indexes.has(next)) {
          enter(next);
        } else if (onStack.has(next)) {
          lowLinks.set(id, Math.min(lowLinks.get(id) ?? 0, indexes.get(next) ?? 0));
        }

        continue;
      }

      path.pop();
      const parent = path.at(-1);
      if (parent !== undefined) {
        lowLinks.set(parent.id, Math.min(lowLinks.get(parent.id) ?? 0, lowLinks.get(id) ?? 0));
      }

      if (lowLinks.get(id) !== indexes.get(id)) continue;
      const component = stack.splice(stack.lastIndexOf(id));
      for (const member of component) onStack.delete(member);
      components.push(component);
    }
  }

  return components;
}

function findShortestCycle(
  start: string,
  afterOf: (id: string) => readonly string[],
): readonly string[] | null {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (let index = 0; index < queue.length; index += 1) {
    const id = queue[index] ?? "";
    for (const next of afterOf(id)) {
      if (next === start) {
        const cycle = [start];
        for (
          let current: string | undefined = id;
          current !== undefined && current !== start;
          current = cameFrom.get(current)
        ) {
          cycle.unshift(current);
        }

        return [start, ...cycle];
      }

      if (cameFrom.has(next)) continue;
      cameFrom.set(next, id);
      queue.push(next);
    }
  }

  return null;
}

/** A min-heap of numbers. */
function createHeap(): {
  readonly push: (value: number) => void;
  readonly pop: () => number | undefined;
} {
  const heap: number[] = [];
  const valueAt = (index: number): number => heap[index] ?? Number.POSITIVE_INFINITY;
  const swap = (left: number, right: number): void => {
    [heap[left], heap[right]] = [valueAt(right), valueAt(left)];
  };

  return {
    push: (value) => {
      heap.push(value);
      for (let index = heap.length - 1; index > 0;) {
        const parent = (index - 1) >> 1;
        if (valueAt(parent) <= valueAt(index)) return;
        swap(parent, index);
        index = parent;
      }
    },
    pop: () => {
      const smallest = heap[0];
      const last = heap.pop();
      if (heap.length === 0 || last === undefined) return smallest;
      heap[0] = last;

      for (let index = 0; ;) {
        const leftChild = 2 * index + 1;
        const smallerChild =
          valueAt(leftChild + 1) < valueAt(leftChild) ? leftChild + 1 : leftChild;
        if (valueAt(smallerChild) >= valueAt(index)) return smallest;
        swap(smallerChild, index);
        index = smallerChild;
      }
    },
  };
}
