// bwrap-mounts: turns the mounts that make up a sandbox's file system into bubblewrap options,
// ordered so that they do not cover each other.
//
// Invariants:
//   X1. Nothing can be written except where allowed: whatever is created to hide something is
//       finally read-only, so that a write there fails rather than seeming to succeed and
//       vanishing. (For mount points bwrap-sandbox.ts sees to that.)
//   X2. Deeper paths come later, so that the narrower rule wins; of two rules about one path the
//       more explicit one wins.

import { lstatSync } from "node:fs";
import { isWithin } from "./program-paths.ts";

export type SandboxMount =
  /**
   * Something from outside, at the same path unless `from` says otherwise. `isOwn`: made for this
   * sandbox, so links may be created in it.
   */
  | {
      readonly kind: "writable" | "readable";
      readonly path: string;
      readonly from?: string;
      readonly isOwn?: boolean;
    }
  /** A folder inside the sandbox only, for scratch files, gone with it. */
  | { readonly kind: "scratch"; readonly path: string; readonly bytesMax: number }
  /** An empty folder, if there would be none. */
  | { readonly kind: "folder"; readonly path: string }
  /** Nothing: an empty folder, or an empty file. */
  | { readonly kind: "nothing"; readonly path: string };

/** A link inside the sandbox. */
export type SandboxLink = readonly [link: string, target: string];

/** X2: the higher number wins. */
const explicitness = { writable: 4, readable: 3, nothing: 2, scratch: 1, folder: 0 } as const;

/**
 * The options for all mounts and links, in order. `canLimitSizes`: whether this bubblewrap can
 * limit scratch folders.
 */
export function composeMountArguments(
  mounts: readonly SandboxMount[],
  links: readonly SandboxLink[],
  canLimitSizes: boolean,
): readonly string[] {
  const ordered = dropRedundant(keepMostExplicit(mounts));
  const emptyFolders = ordered
    .filter(({ kind, path }) => kind === "nothing" && isFolder(path))
    .map(({ path }) => path);

  const composeLinkOptions = (
    isWanted: (enclosing: SandboxMount | undefined) => boolean,
  ): readonly string[] =>
    links.flatMap(([link, target]) => {
      const enclosing = findEnclosingMount(link, ordered);
      return isWanted(enclosing) && !existsInMount(link, enclosing)
        ? ["--symlink", target, link]
        : [];
    });
  return [
    ...composeLinkOptions((enclosing) => enclosing === undefined),
    ...ordered.flatMap((mount) => toMountOptions(mount, canLimitSizes)),
    ...composeLinkOptions(
      (enclosing) =>
        enclosing?.kind === "scratch" || enclosing?.kind === "nothing" || isOwn(enclosing),
    ),
    ...emptyFolders.flatMap((path) => ["--remount-ro", path]), // X1
  ];
}

/** One mount per path, shallow ones first. X2 */
function keepMostExplicit(mounts: readonly SandboxMount[]): readonly SandboxMount[] {
  const byPath = new Map<string, SandboxMount>();
  for (const mount of mounts) {
    const key = mount.kind === "folder" ? `${mount.path}/` : mount.path; // a folder does not determine what is in it
    const sameKey = byPath.get(key);
    if (sameKey === undefined || explicitness[mount.kind] > explicitness[sameKey.kind]) {
      byPath.set(key, mount);
    }
  }

  return [...byPath.values()].sort(
    (a, b) =>
      pathDepth(a.path) - pathDepth(b.path) ||
      explicitness[b.kind] - explicitness[a.kind] ||
      (a.path < b.path ? -1 : 1),
  );
}

/**
 * Leaves out mounts that change nothing: what is readable already, a folder that exists anyway,
 * hiding something that does not exist.
 */
function dropRedundant(sorted: readonly SandboxMount[]): readonly SandboxMount[] {
  const needed: SandboxMount[] = [];
  for (const mount of sorted) {
    const enclosing = findEnclosingMount(mount.path, needed);
    const isEnclosed = enclosing?.kind === "readable" && enclosing.from === undefined;
    const isReadableAnyway = mount.kind === "readable" && mount.from === undefined && isEnclosed;
    const isAbsentAnyway =
      mount.kind === "nothing" && (enclosing === undefined || enclosing.kind === "nothing");
    const existsAnyway =
      mount.kind === "folder" && (enclosing?.kind === "readable" || enclosing?.kind === "writable");
    if (!isReadableAnyway && !isAbsentAnyway && !existsAnyway) needed.push(mount);
  }

  return needed;
}

/** The innermost mount that a path is in. */
const findEnclosingMount = (
  path: string,
  keptMounts: readonly SandboxMount[],
): SandboxMount | undefined =>
  keptMounts.findLast((mount) => mount.kind !== "folder" && isWithin(path, mount.path));

function toMountOptions(mount: SandboxMount, canLimitSizes: boolean): readonly string[] {
  const { path } = mount;
  if (mount.kind === "writable") return ["--bind", mount.from ?? path, path];
  if (mount.kind === "readable") return ["--ro-bind-try", mount.from ?? path, path];
  if (mount.kind === "scratch") {
    return [
      ...(canLimitSizes ? ["--size", String(mount.bytesMax), "--perms", "1777"] : []),
      "--tmpfs",
      path,
    ];
  }

  if (mount.kind === "folder") return ["--dir", path];
  return isFolder(path) ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path];
}

const isOwn = (mount: SandboxMount | undefined): boolean =>
  mount?.kind === "writable" && mount.isOwn === true;

/**
 * Whether a writable folder already has something at a link's path, for example from an earlier
 * command.
 */
function existsInMount(link: string, mount: SandboxMount | undefined): boolean {
  if (mount?.kind !== "writable") return false;
  const pathOutside = `${mount.from ?? mount.path}${link.slice(mount.path.length)}`;
  return lstatSync(pathOutside, { throwIfNoEntry: false }) !== undefined;
}

const pathDepth = (path: string): number => path.split("/").length;
/** A path that does not exist outside counts as a folder: as such it is empty inside, too. */
const isFolder = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? true;
