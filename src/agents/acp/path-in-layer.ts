// path-in-layer: whether a path an agent named is in its layer, and where. It reads the text only; the workspace finds what really changed.

import { realpathSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";

export function createInLayerTest(layer: string): (path: string) => boolean {
  const pathIn = createLayerPathReader(layer);
  return (path) => pathIn(path) !== null;
}

/** The path relative to the layer, with slashes; null if it is outside. */
export function createLayerPathReader(layer: string): (path: string) => string | null {
  const roots = [...new Set([resolve(layer), realPath(layer)])];
  return (path) => roots.flatMap((root) => relativeBelow(root, resolve(layer, path)) ?? [])[0] ?? null;
}

function relativeBelow(root: string, path: string): string | null {
  const relativePath = relative(root, path);
  const isBelow = relativePath === "" || (relativePath !== ".." && !relativePath.startsWith(`..${sep}`) && !isAbsolute(relativePath));
  return isBelow ? relativePath.split(sep).join("/") : null;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
