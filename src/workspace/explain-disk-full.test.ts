import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeRoom, explainDiskFull } from "./explain-disk-full.ts";

test("a program that says it has no room is believed, and the disk is named with what is left", () => {
  for (const message of [
    "write: No space left on device",
    "error: Out of diskspace",
    "Disk quota exceeded",
    "ENOSPC: no space",
  ]) {
    expect(explainDiskFull(message, [join(tmpdir(), "not", "there")])).toMatch(
      /^The disk at \/.* is full \(\d+ KB left\)\.$/,
    );
  }
});

test("another reason is not taken for a full disk", () => {
  const messages = [
    "unable to create file a: Permission denied",
    "unable to write file a: Read-only file system",
    "bad object",
  ];
  for (const message of messages) expect(explainDiskFull(message, [tmpdir()])).toBeNull();
});

test("a file that git could not write, without a reason, is one of little room only", () => {
  const { bavail, bsize } = statfsSync(tmpdir());
  expect(explainDiskFull("error: unable to write file g28", []) === null).toBe(
    bavail * bsize >= 256 << 20,
  );
});

test("a disk without inodes has room for no more files, and is not called full", () => {
  expect(describeRoom({ folder: tmpdir(), bytes: 0, hasInodes: false })).toMatch(
    /^The disk at \/.* has no room for more files \(all its inodes/,
  );
});
