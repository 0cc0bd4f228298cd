// inside: whether a path an agent named lies in its layer. It reads the words only; what really changed the workspace finds out.

import { realpathSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";

export function insideOf(layer: string): (path: string) => boolean {
  const roots = [...new Set([resolve(layer), realOf(layer)])];
  return (path) => roots.some((root) => isBelow(root, resolve(layer, path)));
}

function isBelow(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
