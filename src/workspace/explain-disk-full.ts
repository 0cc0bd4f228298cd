// explain-disk-full: finds out afterwards whether something failed because a disk is full, and which
// disk. A program's message does not always say so; then the free space of the disks is checked.

import { statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";

/** Less space than this counts as none: a file and its folder's entry take a block each. */
const roomBytesMin = 16_384;
/**
 * Git reports that it could not write a file without saying why, and deletes the incomplete file.
 * That frees space again, so a disk with up to this much room may still have been full.
 */
const unexplainedBytesMin = 256 << 20;

/** `write error: No space left on device` */
const noSpacePattern =
  /No space left on device|Disk quota exceeded|Out of diskspace|\b(ENOSPC|EDQUOT)\b/;
/** `fatal: unable to write new index file` */
const notWrittenPattern =
  /(unable to|could not|failed to|cannot) (write|create|append)|write error|sha1 file .* error/i;
/** `error: unable to create file a: Permission denied` */
const otherReasonPattern =
  /Permission denied|Read-only file system|Operation not permitted|File exists|Is a directory|Not a directory/;

/**
 * A sentence that names the fullest disk, for a failure with this message in these folders or the
 * temporary one; null if it is about something else.
 */
export function explainDiskFull(message: string, folders: readonly string[]): string | null {
  const rooms = [...folders, tmpdir()]
    .flatMap((folder) => readRoom(folder))
    .toSorted((a, b) => a.bytes - b.bytes);
  const [least] = rooms;

  if (noSpacePattern.test(message)) {
    return least === undefined ? "The disk is full." : describeRoom(least);
  }

  if (least === undefined) return null;
  const isUnexplained = notWrittenPattern.test(message) && !otherReasonPattern.test(message);
  return least.bytes < (isUnexplained ? unexplainedBytesMin : roomBytesMin)
    ? describeRoom(least)
    : null;
}

/** How much more a disk can hold; `folder` is on it. */
export type DiskRoom = {
  readonly folder: string;
  readonly bytes: number;
  readonly hasInodes: boolean;
};

export const describeRoom = ({ folder, bytes, hasInodes }: DiskRoom): string =>
  hasInodes
    ? `The disk at ${findMount(folder)} is full (${Math.floor(bytes / 1024)} KB left).`
    : `The disk at ${findMount(folder)} has no room for more files (all its inodes are used).`;

/** The topmost folder on the same disk. */
function findMount(folder: string): string {
  const parent = dirname(folder);
  return parent === folder || statSync(parent).dev !== statSync(folder).dev
    ? folder
    : findMount(parent);
}

/**
 * The room of the disk that a folder is on, or would be if it existed; empty if that is unknown.
 */
function readRoom(folder: string): readonly DiskRoom[] {
  try {
    const { blocks, bavail, bsize, files, ffree } = statfsSync(folder);
    if (blocks === 0) return [];
    const hasInodes = files === 0 || ffree > 0;

    return [{ folder, bytes: hasInodes ? bavail * bsize : 0, hasInodes }];
  } catch {
    return dirname(folder) === folder ? [] : readRoom(dirname(folder));
  }
}
