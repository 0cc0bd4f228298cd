// open-file: opens a regular file of a run, and nothing else at its path.

import { fstatSync } from "node:fs";
import type { Disk } from "./disk.ts";
import { fileMode } from "./disk.ts";
import { errorCode, damaged } from "./journal-failure.ts";

/**
 * A descriptor of a regular file. A link, folder, pipe or device is refused as damage at its first
 * byte.
 */
export function openFile(disk: Disk, path: string, flags: number): number {
  let fd: number;
  try {
    fd = disk.open(path, flags, fileMode);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ELOOP" || code === "EMLINK") {
      throw damaged(1, 0, `${path} is a symbolic link`, error);
    }

    if (code === "EISDIR" || code === "ENXIO") throw damaged(1, 0, `${path} is not a file`, error);
    throw error;
  }

  if (fstatSync(fd).isFile()) return fd;
  disk.close(fd);
  throw damaged(1, 0, `${path} is not a file`);
}
