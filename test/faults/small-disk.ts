// small-disk: a disk in memory that is full soon, for tests of what a full disk may cost. Only root
// may mount one.

import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmdirSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterFile } from "../support/after-file.ts";
import { scratchFolder } from "../support/scratch-repository.ts";

export const mayMount = ((): boolean => {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  const folder = scratchFolder();

  try {
    mount(folder, "64k");
    execFileSync("umount", [folder]);
    return true;
  } catch {
    return false;
  }
})();

/** The end of the title of a test that needs such a disk. */
export const whyNoDisk = mayMount ? "" : " (skipped: only root may mount a small disk)";

function mount(folder: string, size: string): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder], {
    stdio: "ignore",
  });
}

/** A new disk of this size, until the test file ends. */
export function smallDisk(megabytes: number): string {
  const disk = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-disk-")));
  mount(disk, `${megabytes}m`);
  afterFile(() => {
    execFileSync("umount", [disk]);
    rmdirSync(disk);
  });

  return disk;
}

export const ballastIn = (disk: string): string => join(disk, "ballast");

/** Fills the disk until only so much is free. */
export function fill(disk: string, kilobytes: number, ballast = ballastIn(disk)): string {
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - kilobytes * 1024)));
  return ballast;
}

/** The same as a line of shell, for an agent. */
export const fillCommand = (disk: string, kilobytes: number): string =>
  `free=$(df --output=avail -k ${disk} | tail -1); [ $free -le ${kilobytes} ] || head -c $(( (free - ${kilobytes}) * 1024 )) /dev/zero > ${ballastIn(disk)}`;
