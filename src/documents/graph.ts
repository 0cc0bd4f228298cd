// graph: sorts nodes by their dependencies, and finds cycles among them.
//
// Invariants:
//   G1. Sorting takes O((nodes + edges) · log nodes) time, by a heap; a roadmap may have thousands
//       of phases.
//   G2. The result does not depend on the order of the input.

import { createHeap } from "./heap.ts";

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
  const { openDependencies, followers } = linkByRank(sorted);
  const ready = createHeap(); // G1
  const unwanted: number[] = []; // taken first, so that they delay no other node
  const doneRanks = new Set<number>();
  const ordered: string[] = [];

  const isWantedRank = (rank: number): boolean => isWanted(sorted[rank]?.id ?? "");
  const markReady = (rank: number): void => {
    if (isWantedRank(rank)) ready.push(rank);
    else unwanted.push(rank);
  };
  const takeNext = (): number | undefined => unwanted.pop() ?? ready.pop();

  for (const [rank, count] of openDependencies.entries()) if (count === 0) markReady(rank);
  for (let rank = takeNext(); rank !== undefined; rank = takeNext()) {
    doneRanks.add(rank);
    if (isWantedRank(rank)) ordered.push(sorted[rank]?.id ?? "");
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

/** For each node, by its place in the list: how many it waits for, and which wait for it. */
function linkByRank(sorted: readonly DependencyNode[]): {
  readonly openDependencies: number[];
  readonly followers: readonly (readonly number[])[];
} {
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

  return { openDependencies, followers };
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
): readonly (readonly string[])[] {
  const search = new ComponentSearch(afterOf);
  for (const id of ids) search.visit(id);
  return search.components;
}

/** A node on the way from the root to the current node. `next`: which dependency comes next. */
type Frame = { readonly id: string; next: number };

class ComponentSearch {
  readonly components: string[][] = [];
  readonly #afterOf: ReadonlyMap<string, readonly string[]>;
  /** When each node was first seen. */
  readonly #indexes = new Map<string, number>();
  /** The earliest seen node that each one is known to lead back to. */
  readonly #lowLinks = new Map<string, number>();
  /** The nodes that are in no component yet, in the order in which they were seen. */
  readonly #stack: string[] = [];
  readonly #onStack = new Set<string>();

  constructor(afterOf: ReadonlyMap<string, readonly string[]>) {
    this.#afterOf = afterOf;
  }

  /** Visits all that is reachable from a node, depth first. */
  visit(root: string): void {
    if (this.#indexes.has(root)) return;
    const path: Frame[] = [this.#enter(root)];

    for (let frame = path.at(-1); frame !== undefined; frame = path.at(-1)) {
      const next = this.#afterOf.get(frame.id)?.[frame.next];
      frame.next += 1;

      if (next === undefined) {
        path.pop();
        this.#leave(frame.id, path.at(-1)?.id);
      } else if (!this.#indexes.has(next)) {
        path.push(this.#enter(next));
      } else if (this.#onStack.has(next)) {
        this.#lower(frame.id, this.#indexes.get(next) ?? 0);
      }
    }
  }

  #enter(id: string): Frame {
    const index = this.#indexes.size;
    this.#indexes.set(id, index);
    this.#lowLinks.set(id, index);
    this.#stack.push(id);
    this.#onStack.add(id);

    return { id, next: 0 };
  }

  /** A node that leads back to none before it closes a component: all above it on the stack. */
  #leave(id: string, parent: string | undefined): void {
    const lowLink = this.#lowLinks.get(id) ?? 0;
    if (parent !== undefined) this.#lower(parent, lowLink);
    if (lowLink !== this.#indexes.get(id)) return;

    const component = this.#stack.splice(this.#stack.lastIndexOf(id));
    for (const member of component) this.#onStack.delete(member);
    this.components.push(component);
  }

  #lower(id: string, index: number): void {
    this.#lowLinks.set(id, Math.min(this.#lowLinks.get(id) ?? 0, index));
  }
}

/** The shortest way from a node back to itself, found breadth first; null if there is none. */
function findShortestCycle(
  start: string,
  afterOf: (id: string) => readonly string[],
): readonly string[] | null {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (let index = 0; index < queue.length; index += 1) {
    const id = queue[index] ?? "";
    for (const next of afterOf(id)) {
      if (next === start) return [...tracePath(start, id, cameFrom), start];
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, id);
      queue.push(next);
    }
  }

  return null;
}

/** The nodes from `start` to `end`. */
function tracePath(
  start: string,
  end: string,
  cameFrom: ReadonlyMap<string, string>,
): readonly string[] {
  const path: string[] = [];
  for (
    let current: string | undefined = end;
    current !== undefined && current !== start;
    current = cameFrom.get(current)
  ) {
    path.unshift(current);
  }

  return [start, ...path];
}
