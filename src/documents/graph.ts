// graph: what comes after what, for phases and for tasks alike.
//
// Invariants:
//   G1. Work is linear in nodes and edges except for the choosing of the least, which takes a logarithm.
//   G2. The answer does not depend on the order in which the nodes are given.

export type Node = { readonly id: string; readonly after: readonly string[] };

/**
 * Every node after those it names, the least of the possible ones first. Nodes that can never come, for they wait for each other, stand at
 * the end in their own order. Names that aren't nodes are skipped. What `isWanted` refuses only passes its order on, and is left out.
 */
export function inOrder(
  nodes: readonly Node[],
  compare: (a: string, b: string) => number,
  isWanted: (id: string) => boolean = () => true,
): readonly string[] {
  const sorted = nodes.toSorted((a, b) => compare(a.id, b.id)); // G2
  const rankOf = new Map(sorted.map(({ id }, rank) => [id, rank]));
  const waiting = sorted.map(
    ({ id, after }) =>
      new Set(after.filter((dependency) => rankOf.has(dependency) && dependency !== id)).size + (after.includes(id) ? 1 : 0),
  );
  const followers: number[][] = sorted.map(() => []);
  for (const [rank, { id, after }] of sorted.entries())
    for (const before of new Set(after)) if (before !== id) followers[rankOf.get(before) ?? -1]?.push(rank);

  const ordered: string[] = [];
  const passing: number[] = []; // unwanted ones pass at once, so that they delay no other
  const ready = openHeap();
  const admit = (rank: number): void => {
    if (isWanted(sorted[rank]?.id ?? "")) ready.push(rank);
    else passing.push(rank);
  };
  for (const [rank, count] of waiting.entries()) if (count === 0) admit(rank);
  const isDone = new Set<number>();
  for (let rank = passing.pop() ?? ready.pop(); rank !== undefined; rank = passing.pop() ?? ready.pop()) {
    const id = sorted[rank]?.id ?? "";
    isDone.add(rank);
    if (isWanted(id)) ordered.push(id);
    for (const follower of followers[rank] ?? []) {
      waiting[follower] = (waiting[follower] ?? 0) - 1;
      if (waiting[follower] === 0) admit(follower);
    }
  }
  const stuck = sorted.filter(({ id }, rank) => !isDone.has(rank) && isWanted(id)).map(({ id }) => id);
  return [...ordered, ...stuck];
}

/** Nodes that wait for each other: of every knot one ring, in order and closed (`3 5 3`), beginning with its least. */
export function ringsAmong(nodes: readonly Node[], compare: (a: string, b: string) => number): readonly (readonly string[])[] {
  const sorted = nodes.toSorted((a, b) => compare(a.id, b.id));
  const afterOf = new Map(sorted.map(({ id }) => [id, [] as string[]]));
  for (const { id, after } of sorted) afterOf.set(id, [...new Set(after)].filter((dependency) => afterOf.has(dependency)).sort(compare));
  return knotsOf(
    sorted.map(({ id }) => id),
    afterOf,
  ).flatMap((knot) => {
    const inKnot = new Set(knot);
    const start = knot.toSorted(compare)[0] ?? "";
    const ring = shortestRing(start, (id) => (afterOf.get(id) ?? []).filter((dependency) => inKnot.has(dependency)));
    return ring === null ? [] : [ring];
  });
}

/** Tarjan's strongly connected components, with its own stack: a chain of thousands must not end ours. */
function knotsOf(ids: readonly string[], afterOf: ReadonlyMap<string, readonly string[]>): string[][] {
  const seen = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const knots: string[][] = [];
  for (const root of ids) {
    if (seen.has(root)) continue;
    const path: { readonly id: string; next: number }[] = [];
    const enter = (id: string): void => {
      seen.set(id, seen.size);
      low.set(id, seen.size - 1);
      open.push(id);
      isOpen.add(id);
      path.push({ id, next: 0 });
    };
    enter(root);
    for (let frame = path.at(-1); frame !== undefined; frame = path.at(-1)) {
      const { id } = frame;
      const next = afterOf.get(id)?.[frame.next];
      frame.next += 1;
      if (next !== undefined) {
        if (!seen.has(next)) enter(next);
        else if (isOpen.has(next)) low.set(id, Math.min(low.get(id) ?? 0, seen.get(next) ?? 0));
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent !== undefined) low.set(parent.id, Math.min(low.get(parent.id) ?? 0, low.get(id) ?? 0));
      if (low.get(id) !== seen.get(id)) continue;
      const knot = open.splice(open.lastIndexOf(id));
      for (const member of knot) isOpen.delete(member);
      knots.push(knot);
    }
  }
  return knots;
}

function shortestRing(start: string, afterOf: (id: string) => readonly string[]): readonly string[] | null {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (let index = 0; index < queue.length; index += 1) {
    const id = queue[index] ?? "";
    for (const next of afterOf(id)) {
      if (next === start) {
        const ring = [start];
        for (let back: string | undefined = id; back !== undefined && back !== start; back = cameFrom.get(back)) ring.unshift(back);
        return [start, ...ring];
      }
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, id);
      queue.push(next);
    }
  }
  return null;
}

/** The least number first. */
function openHeap(): { readonly push: (value: number) => void; readonly pop: () => number | undefined } {
  const heap: number[] = [];
  const at = (n: number): number => heap[n] ?? Number.POSITIVE_INFINITY;
  const swap = (a: number, b: number): void => {
    [heap[a], heap[b]] = [at(b), at(a)];
  };
  return {
    push: (value) => {
      heap.push(value);
      for (let n = heap.length - 1; n > 0;) {
        const above = (n - 1) >> 1;
        if (at(above) <= at(n)) return;
        swap(above, n);
        n = above;
      }
    },
    pop: () => {
      const least = heap[0];
      const last = heap.pop();
      if (heap.length === 0 || last === undefined) return least;
      heap[0] = last;
      for (let n = 0; ;) {
        const left = 2 * n + 1;
        const smaller = at(left + 1) < at(left) ? left + 1 : left;
        if (at(smaller) >= at(n)) return least;
        swap(smaller, n);
        n = smaller;
      }
    },
  };
}
