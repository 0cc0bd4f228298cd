// disk-room: whether something failed for lack of room, and on which disk. Programs do not always say so, and then the disks are checked.

import { statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";

/** Less space than this counts as none: a file and its folder's entry take a block each. */
const roomBytesMin = 16_384;
/** Git reports a file it could not write without the reason, and takes the half of it away: what was left may have been more than that. */
const unexplainedBytesMin = 256 << 20;

const saysNoRoom = /No space left on device|Disk quota exceeded|Out of diskspace|\b(ENOSPC|EDQUOT)\b/;
const saysNotWritten = /(unable to|could not|failed to|cannot) (write|create|append)|write error|sha1 file .* error/i;
const saysAnotherReason = /Permission denied|Read-only file system|Operation not permitted|File exists|Is a directory|Not a directory/;

/** A sentence that names the full disk, for a failure with this message in these folders; null if it is about something else. */
export function explainDiskFull(message: string, folders: readonly string[]): string | null {
  const rooms = [...folders, tmpdir()].flatMap((folder) => readRoom(folder)).toSorted((one, other) => one.bytes - other.bytes);
  const [least] = rooms;
  if (saysNoRoom.test(message)) return least === undefined ? "The disk is full." : describeRoom(least);
  if (least === undefined) return null;
  const isUnexplained = saysNotWritten.test(message) && !saysAnotherReason.test(message);
  return least.bytes < (isUnexplained ? unexplainedBytesMin : roomBytesMin) ? describeRoom(least) : null;
}

export type Room = { readonly folder: string; readonly bytes: number; readonly hasInodes: boolean };

export const describeRoom = ({ folder, bytes, hasInodes }: Room): string =>
  hasInodes
    ? `The disk at ${findMount(folder)} is full (${Math.floor(bytes / 1024)} KB left).`
    : `The disk at ${findMount(folder)} has no room for more files (all its inodes are used).`;

/** The topmost folder on the same disk. */
function findMount(folder: string): string {
  const above = dirname(folder);
  return above === folder || statSync(above).dev !== statSync(folder).dev ? folder : findMount(above);
}

/** The room of the disk that a folder is on, or would be; none if that is unknown. */
function readRoom(folder: string): readonly Room[] {
  try {
    const { blocks, bavail, bsize, files, ffree } = statfsSync(folder);
    if (blocks === 0) return [];
    const hasInodes = files === 0 || ffree > 0;
    return [{ folder, bytes: hasInodes ? bavail * bsize : 0, hasInodes }];
  } catch {
    return dirname(folder) === folder ? [] : readRoom(dirname(folder));
  }
}
