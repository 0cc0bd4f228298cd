// manifest-file: reads a manifest from a folder if it is a regular file of bounded size.

import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { manifestCharsMax } from "./manifest.ts";

/** Reads a manifest at the top of a folder: a regular file of bounded size, else null. */
export const manifestReader =
  (folder: string) =>
  (path: string): string | null => {
    try {
      const stats = lstatSync(join(folder, path));
      return stats.isFile() && stats.size <= manifestCharsMax ? readFileSync(join(folder, path), "utf8") : null;
    } catch {
      return null;
    }
  };
