// manifest-file: reads a manifest of a checkout if it is a regular file of bounded size.

import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { manifestCharsMax } from "./manifest.ts";

/**
 * Reads a path in the first of these folders that has it (an overlay has several layers); null
 * unless it is a regular file of bounded size.
 */
export const createManifestReader =
  (folders: readonly string[]) =>
  (path: string): string | null => {
    for (const folder of folders) {
      try {
        const stats = lstatSync(join(folder, path));
        return stats.isFile() && stats.size <= manifestCharsMax
          ? readFileSync(join(folder, path), "utf8")
          : null;
      } catch {
        continue; // this folder does not have it
      }
    }

    return null;
  };
