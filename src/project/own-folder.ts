// own-folder: finds and creates our folders below an untrusted one, such as a cloned repository,
// without following links. A link would redirect every read and write below it to wherever its
// author likes.
//
// Invariants:
//   F1. Every part of the path below `root` is inspected, and a link, a file or `..` among them
//       refuses; `root` itself is the user's choice.
//   F2. The refusal names the link and its location, so that the user can inspect it.

import { lstatSync, mkdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { refuse } from "./respond.ts";

export type Obstacle = { readonly path: string; readonly kind: "link" | "file" };

/**
 * Finds the first link or file on the way to a folder below `root`; null if there is none, even if
 * the folder isn't there yet.
 */
export function findObstacle(root: string, path: string): Obstacle | null {
  let folder = root;
  for (const part of splitPath(root, path)) {
    folder = join(folder, part);
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (stats === undefined) return null;
    if (!stats.isDirectory()) return { path: folder, kind: toKind(stats) };
  }

  return null;
}

/** Refuses if a link or a file is on the way. F1 */
export function requireNoLink(root: string, path: string): void {
  const obstacle = findObstacle(root, path);
  if (obstacle !== null) refuseInTheWay(obstacle.path, obstacle.kind, "folder");
}

/** Returns a folder below `root`, created if missing. F1 */
export function ensureFolderBelow(root: string, path: string, mode = 0o700): string {
  let folder = root;
  for (const part of splitPath(root, path)) {
    folder = join(folder, part);
    let stats = lstatSync(folder, { throwIfNoEntry: false });
    if (stats === undefined) {
      mkdirSync(folder, { mode, recursive: true }); // `recursive`: another process may have created it meanwhile
      stats = lstatSync(folder);
    }

    if (!stats.isDirectory()) refuseInTheWay(folder, toKind(stats), "folder");
  }

  return folder;
}

/** F2 */
export const refuseInTheWay = (path: string, present: string, needed: "folder" | "file"): never =>
  refuse("workspace_unusable", {
    message: `A ${present} lies where a ${needed} is needed: ${path}. Links are not followed.`,
    remediation: ["rename it, then try again"],
    data: { path },
  });

const toKind = (stats: Stats): Obstacle["kind"] => (stats.isSymbolicLink() ? "link" : "file");

function splitPath(root: string, path: string): readonly string[] {
  const parts = path.split(/[/\\]/).filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) {
    refuse("workspace_unusable", {
      message: `A folder below ${root} is needed, and ${path} leads out of it.`,
      data: { path: join(root, path) },
    });
  }

  return parts;
}
