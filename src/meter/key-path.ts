// key-path: keeps track of where in a JSON text a scan is, as far as the requested paths of keys
// go. Arrays do not count: the objects in them have the path of the array.

import { buildKeyTree, hashStart, type KeyNode } from "./key-tree.ts";

/** No requested path is deeper. */
const depthKept = 8;

export type KeyPath = {
  /** How many objects are open. */
  readonly depth: () => number;
  /** The hash of the latest key. */
  readonly key: () => number;
  readonly setKey: (hash: number) => void;
  readonly enterObject: () => void;
  readonly leaveObject: () => void;
  /** The requested path that ends at the value after the latest key; null if none does. */
  readonly requestedPath: () => readonly string[] | null;
};

export function openKeyPath(requestedPaths: readonly (readonly string[])[]): KeyPath {
  const root = buildKeyTree(requestedPaths);
  // For each open object its latest key, and its node in the tree of requested paths; null if no
  // requested path goes through it.
  const keys = new Int32Array(depthKept + 1);
  const nodes: (KeyNode | null)[] = Array.from({ length: depthKept + 1 }, () => null);
  let depth = 0;
  let latestKey = hashStart;

  function findValueNode(): KeyNode | null {
    if (depth === 0 || depth > depthKept) return null;
    return nodes[depth]?.next.get(keys[depth] as number) ?? null;
  }

  return {
    depth: () => depth,
    key: () => latestKey,
    setKey: (hash) => {
      latestKey = hash;
      if (depth <= depthKept) keys[depth] = hash;
    },
    enterObject: () => {
      const node = depth === 0 ? root : findValueNode();
      depth++;
      if (depth <= depthKept) nodes[depth] = node;
    },
    leaveObject: () => {
      depth = Math.max(0, depth - 1);
    },
    requestedPath: () => findValueNode()?.path ?? null,
  };
}
