// key-tree: builds a tree of the requested key paths, whose branches are found by a hash of the key
// that is computed byte by byte.

/** FNV-1a, 32 bits. */
export const hashStart = 0x811c9dc5 | 0;
const hashPrime = 0x01000193;

/** The node of an object or value: the requested path that ends here, and those that continue. */
export type KeyNode = { readonly next: Map<number, KeyNode>; path: readonly string[] | null };

export function buildKeyTree(paths: readonly (readonly string[])[]): KeyNode {
  const root: KeyNode = { next: new Map(), path: null };
  for (const path of paths) {
    let node = root;
    for (const name of path) {
      const child: KeyNode = node.next.get(hashName(name)) ?? { next: new Map(), path: null };
      node.next.set(hashName(name), child);
      node = child;
    }

    node.path = path;
  }

  return root;
}

export function hashName(name: string): number {
  const bytes = Buffer.from(name);
  return hashBytes(hashStart, bytes, 0, bytes.length);
}

/** Continues a hash with the bytes from `start` up to `end`. */
export function hashBytes(hash: number, bytes: Buffer, start: number, end: number): number {
  let next = hash;
  for (let index = start; index < end; index++) {
    next = Math.imul(next ^ (bytes[index] as number), hashPrime);
  }

  return next;
}
