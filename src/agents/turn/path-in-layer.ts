// path-in-layer: tells whether a path that an agent named is in its layer (its folder), and where.
// It looks at the path's text only, and follows no link in it; the workspace finds what really
// changed.

import { realpathSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";

/** Returns a test whether a path is in the layer. */
export function createInLayerTest(layer: string): (path: string) => boolean {
  const toLayerPath = createLayerRelativizer(layer);
  return (path) => toLayerPath(path) !== null;
}

/**
 * Returns a function that makes a path relative to the layer, with slashes; null if it is outside.
 * An agent may name the layer by the path it was given or by its real one (`/tmp` is a link on
 * macOS).
 */
export function createLayerRelativizer(layer: string): (path: string) => string | null {
  const roots = [...new Set([resolve(layer), toRealPath(layer)])];
  return (path) => {
    for (const root of roots) {
      const relativePath = toRelativePath(root, resolve(layer, path));
      if (relativePath !== null) return relativePath;
    }

    return null;
  };
}

function toRelativePath(root: string, path: string): string | null {
  const relativePath = relative(root, path);
  const isBelow =
    relativePath === "" ||
    (relativePath !== ".." && !relativePath.startsWith(`..${sep}`) && !isAbsolute(relativePath));
  return isBelow ? relativePath.split(sep).join("/") : null;
}

function toRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
