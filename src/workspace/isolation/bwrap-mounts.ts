// bwrap-mounts: the inside of a box as a list of mounts, ordered so that they do not cover each other, as bubblewrap options.
//
// Invariants:
//   X1. Nothing can be written except where allowed: whatever is created to hide something or as a mount point is finally read-only, so
//       that a write there fails rather than seeming to succeed and vanishing.
//   X2. Deeper paths come later, so that the narrower rule wins; of two rules about one path the more explicit one wins.

import { lstatSync } from "node:fs";
import { isWithin } from "./program-paths.ts";

export type Mount =
  /** Something from outside, at the same path unless `from` says otherwise. `isOwn`: made for this box, so links may be created in it. */
  | { readonly kind: "writable" | "readable"; readonly path: string; readonly from?: string; readonly isOwn?: boolean }
  /** A folder inside the box only, for scratch files, gone with it. */
  | { readonly kind: "scratch"; readonly path: string; readonly bytesMax: number }
  /** An empty folder, if there would be none. */
  | { readonly kind: "folder"; readonly path: string }
  /** Nothing: an empty folder, or an empty file. */
  | { readonly kind: "nothing"; readonly path: string };

export type Link = readonly [link: string, target: string];

const explicitness = { writable: 4, readable: 3, nothing: 2, scratch: 1, folder: 0 } as const;

/** `hasSizes`: whether this bubblewrap can limit scratch folders. */
export function composeMountArguments(mounts: readonly Mount[], links: readonly Link[], hasSizes: boolean): readonly string[] {
  const ordered = withoutRedundant(mostExplicit(mounts));
  const emptyFolders = ordered.filter(({ kind, path }) => kind === "nothing" && isFolder(path)).map(({ path }) => path);
  const linkArguments = (isIn: (around: Mount | undefined) => boolean): readonly string[] =>
    links
      .filter(([link]) => isIn(enclosingMount(link, ordered)) && !existsInFolder(link, enclosingMount(link, ordered)))
      .flatMap(([link, target]) => ["--symlink", target, link]);
  return [
    ...linkArguments((around) => around === undefined),
    ...ordered.flatMap((mount) => toArguments(mount, hasSizes)),
    ...linkArguments((around) => around?.kind === "scratch" || around?.kind === "nothing" || isOwn(around)),
    ...emptyFolders.flatMap((path) => ["--remount-ro", path]), // X1
  ];
}

/** One mount per path, shallow ones first. X2 */
function mostExplicit(mounts: readonly Mount[]): readonly Mount[] {
  const byPath = new Map<string, Mount>();
  for (const mount of mounts) {
    const key = mount.kind === "folder" ? `${mount.path}/` : mount.path; // a folder does not determine what is in it
    const other = byPath.get(key);
    if (other === undefined || explicitness[mount.kind] > explicitness[other.kind]) byPath.set(key, mount);
  }
  return [...byPath.values()].sort(
    (a, b) => pathDepth(a.path) - pathDepth(b.path) || explicitness[b.kind] - explicitness[a.kind] || (a.path < b.path ? -1 : 1),
  );
}

/** Without those that change nothing: what is readable already, and hiding something that does not exist. */
function withoutRedundant(sorted: readonly Mount[]): readonly Mount[] {
  const needed: Mount[] = [];
  for (const mount of sorted) {
    const around = enclosingMount(mount.path, needed);
    const isAlready = mount.kind === "readable" && mount.from === undefined && around?.kind === "readable" && around.from === undefined;
    const isAbsent = mount.kind === "nothing" && (around === undefined || around.kind === "nothing");
    const existsAnyway = mount.kind === "folder" && (around?.kind === "readable" || around?.kind === "writable");
    if (!isAlready && !isAbsent && !existsAnyway) needed.push(mount);
  }
  return needed;
}

/** The innermost mount that a path is in. */
const enclosingMount = (path: string, keptMounts: readonly Mount[]): Mount | undefined =>
  keptMounts.findLast((mount) => mount.kind !== "folder" && isWithin(path, mount.path));

function toArguments(mount: Mount, hasSizes: boolean): readonly string[] {
  const { path } = mount;
  if (mount.kind === "writable") return ["--bind", mount.from ?? path, path];
  if (mount.kind === "readable") return ["--ro-bind-try", mount.from ?? path, path];
  if (mount.kind === "scratch") return [...(hasSizes ? ["--size", String(mount.bytesMax), "--perms", "1777"] : []), "--tmpfs", path];
  if (mount.kind === "folder") return ["--dir", path];
  return isFolder(path) ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path];
}

const isOwn = (mount: Mount | undefined): boolean => mount?.kind === "writable" && mount.isOwn === true;

/** Whether the box's own folder already has something at a link's path: from an earlier command, for example. */
const existsInFolder = (link: string, around: Mount | undefined): boolean =>
  around?.kind === "writable" &&
  lstatSync(`${around.from ?? around.path}${link.slice(around.path.length)}`, { throwIfNoEntry: false }) !== undefined;

const pathDepth = (path: string): number => path.split("/").length;
const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? true;
