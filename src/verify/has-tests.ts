// has-tests: finds out whether a JavaScript file of a checkout contains test cases. The file is
// untrusted.

import { lstatSync, readFileSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { countPatterns } from "./protected/test-patterns.ts";

const testFileBytesMax = 1024 * 1024;

/**
 * Returns a predicate for paths of a checkout: whether the file contains test cases. Only regular
 * files of bounded size are read; others contain none. `layers`: folders of an overlay, top first.
 */
export const createTestFileFilter =
  (folder: string, layers: readonly string[] = [folder]) =>
  (path: string): boolean => {
    const relativePath = isAbsolute(path) ? relative(folder, path) : path;
    if (relativePath.startsWith("..")) return false;
    try {
      const candidates = layers.map((layer) => join(layer, relativePath));
      const file =
        candidates.find(
          (candidate) => lstatSync(candidate, { throwIfNoEntry: false }) !== undefined,
        ) ?? "";
      const stats = lstatSync(file);

      return (
        stats.isFile() &&
        stats.size <= testFileBytesMax &&
        countPatterns(readFileSync(file, "utf8"), "js").cases > 0
      );
    } catch {
      return false; // it does not exist, or may not be read
    }
  };
