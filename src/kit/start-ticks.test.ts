import { expect, test } from "vitest";
import { keepStartTicks } from "./start-ticks.ts";

type Folder = { readonly inode: number; readonly tick: number };

/** A /proc made by hand, and which pids were read. */
function proc(folders: Record<number, Folder>): {
  readonly startTickOf: (pid: number) => number | undefined;
  readonly read: number[];
} {
  const read: number[] = [];
  const startTickOf = keepStartTicks({
    inodeOf: (pid) => folders[pid]?.inode,
    readStartTick: (pid) => {
      read.push(pid);
      return folders[pid]?.tick;
    },
  });

  return { startTickOf, read };
}

test("a process is read once, and again when its pid is another's", () => {
  const folders: Record<number, Folder> = { 7: { inode: 1, tick: 100 } };
  const { startTickOf, read } = proc(folders);
  expect([startTickOf(7), startTickOf(7)]).toEqual([100, 100]);
  expect(read).toEqual([7]);
  folders[7] = { inode: 2, tick: 300 };
  expect(startTickOf(7)).toBe(300);
  expect(read).toEqual([7, 7]);
});

test("one that is gone, or can't be read, has no start and is not remembered", () => {
  const folders: Record<number, Folder> = { 7: { inode: 1, tick: Number.NaN } };
  const { startTickOf } = proc(folders);
  expect([startTickOf(7), startTickOf(8)]).toEqual([undefined, undefined]);
  folders[7] = { inode: 1, tick: 5 };
  expect(startTickOf(7)).toBe(5);
});
