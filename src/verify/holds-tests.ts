// holds-tests: tests whether a file of a checkout contains test cases, without trusting the file.

import { lstatSync, readFileSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { countsOf } from "./protected/test-patterns.ts";

const testFileBytesMax = 1024 * 1024;

/** Whether a file of a checkout has test cases. It is untrusted, so only a regular file of bounded size is read. */
export const testFilesIn =
  (folder: string, folders: readonly string[] = [folder]) =>
  (path: string): boolean => {
    const way = isAbsolute(path) ? relative(folder, path) : path;
    if (way.startsWith("..")) return false;
    try {
      const place = folders.map((one) => join(one, way)).find((one) => lstatSync(one, { throwIfNoEntry: false }) !== undefined) ?? "";
      const stats = lstatSync(place);
      return stats.isFile() && stats.size <= testFileBytesMax && countsOf(readFileSync(place, "utf8"), "js").cases > 0;
    } catch {
      return false;
    }
  };
