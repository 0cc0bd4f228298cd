// power-cut: simulates a disk, for tests, that knows what would survive a power cut at this moment,
// after every change. Contents survive by a sync of their file, names by a sync of their folder;
// folders themselves always survive.

import { constants, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { Disk } from "./disk.ts";
import { nodeDisk } from "./disk.ts";

/**
 * Fates of unsynced changes. `half`: the first half of them survives. `zeros`: zeros are in their
 * place. `… kept`: all other files lose theirs.
 */
export const survivals = [
  "nothing",
  "everything",
  "half",
  "zeros",
  "journals kept",
  "logs kept",
] as const;
export type Survival = (typeof survivals)[number];
/** Files by their path below the root. */
export type Image = ReadonlyMap<string, Buffer>;

/** A file, where it is now, and what of it is on disk. */
type Inode = { path: string; durable: Buffer };
export type PowerCutDisk = Disk & { image(survival: Survival): Image };

/**
 * Files below the root at the start count as synced. If `isSynced` is false for a path, its syncs
 * do nothing: a test must then fail.
 */
export function powerCutDisk(
  root: string,
  onChange: () => void,
  isSynced: (path: string) => boolean = () => true,
): PowerCutDisk {
  const live = new Map<string, Inode>();
  for (const path of filesBelow(root)) live.set(path, { path, durable: readFileSync(path) });
  const durableNames = new Map(live);
  /** By descriptor; a folder is its path. */
  const opened = new Map<number, Inode | string>();

  function makeDurable(fd: number, content: Buffer | null): void {
    const target = opened.get(fd);
    if (typeof target === "object" && content !== null && isSynced(target.path)) {
      target.durable = content;
    }

    if (typeof target !== "string") return;
    for (const path of new Set([...live.keys(), ...durableNames.keys()])) {
      if (dirname(path) !== target) continue;
      const inode = live.get(path);
      if (inode === undefined) durableNames.delete(path);
      else durableNames.set(path, inode);
    }
  }

  const contentNow = (fd: number): Buffer | null => {
    const target = opened.get(fd);
    return typeof target === "object" ? readFileSync(target.path) : null;
  };

  function notify<T>(value: T): T {
    onChange();
    return value;
  }

  const sync = (fd: number): void => notify(makeDurable(fd, contentNow(fd)));

  return {
    open(rawPath, flags, mode) {
      const path = resolve(rawPath);
      const fd = nodeDisk.open(path, flags, mode);
      if (statSync(path).isDirectory()) opened.set(fd, path);
      else opened.set(fd, live.get(path) ?? { path, durable: Buffer.alloc(0) });

      const inode = opened.get(fd);
      if (typeof inode === "object" && (flags & constants.O_CREAT) !== 0) live.set(path, inode);
      return notify(fd);
    },
    close(fd) {
      nodeDisk.close(fd);
      opened.delete(fd);
    },
    write: (fd, bytes, offset, length, position) =>
      notify(nodeDisk.write(fd, bytes, offset, length, position)),
    fdatasync: sync,
    fdatasyncLater(fd, done) {
      const content = contentNow(fd);
      setImmediate(() => {
        notify(makeDurable(fd, content));
        done(null);
      });
    },
    fsync: sync,
    ftruncate: (fd, bytes) => notify(nodeDisk.ftruncate(fd, bytes)),
    rename(from, to) {
      nodeDisk.rename(from, to);
      const inode = live.get(resolve(from));
      live.delete(resolve(from));
      if (inode !== undefined) live.set(resolve(to), Object.assign(inode, { path: resolve(to) }));
      onChange();
    },
    unlink(path) {
      nodeDisk.unlink(path);
      live.delete(resolve(path));
      onChange();
    },
    mkdir: (path, mode) => nodeDisk.mkdir(path, mode),
    image: (survival) => readImage(root, live, durableNames, survival),
  };
}

function readImage(
  root: string,
  live: ReadonlyMap<string, Inode>,
  durableNames: ReadonlyMap<string, Inode>,
  survival: Survival,
): Image {
  const image = new Map<string, Buffer>();
  const toRelative = (path: string): string => relative(root, path);
  const isKept = (path: string): boolean =>
    survival === "everything" ||
    (survival === "logs kept" && path.endsWith(".log")) ||
    (survival === "journals kept" && path.endsWith(".jsonl"));

  for (const [path, { durable, path: now }] of durableNames) {
    if (isKept(path)) continue;
    image.set(
      toRelative(path),
      survivingBytes(durable, live.get(path)?.path === now ? readFileSync(now) : durable, survival),
    );
  }

  for (const [path] of live) if (isKept(path)) image.set(toRelative(path), readFileSync(path));
  return image;
}

/** A file with unsynced changes may lose those at its end, or in its middle. */
function survivingBytes(durable: Buffer, content: Buffer, survival: Survival): Buffer {
  if ((survival !== "zeros" && survival !== "half") || content.length < durable.length) {
    return durable;
  }

  const differs = (byte: number, position: number): boolean => byte !== durable[position];
  const first = content.findIndex(differs);
  if (first === -1) return durable;
  const end = content.findLastIndex(differs) + 1;
  const kept = first + (survival === "half" ? (end - first) >> 1 : 0);
  const rest =
    survival === "zeros" ? Buffer.alloc(end - kept) : Buffer.from(durable.subarray(kept, end));

  return Buffer.concat([content.subarray(0, kept), rest, durable.subarray(kept + rest.length)]);
}

/** Puts the files of an image below a folder. */
export function restore(image: Image, root: string): void {
  for (const [path, bytes] of image) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), bytes);
  }
}

function filesBelow(root: string): string[] {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
