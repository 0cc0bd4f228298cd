// overlay-folders: the paths of an overlay's own folders.
//
// Invariant:
//   O1. An overlay belongs to one folder, known by device, inode and birth time; a later folder of
//       the same name gets its own.

import { createHash } from "node:crypto";
import { mkdirSync, statSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { readErrorCode } from "../failure.ts";

/**
 * Names in an overlay's folder: the written files (`upper`), the kernel's work folder (`work`), the
 * merged view (`merged`), a link to the folder (`lower`). While writes are merged into the folder:
 * the temporary name of the next entry (`replacement`), and what was removed or replaced there
 * (`removed`).
 */
export const overlayNames = {
  upper: "upper",
  work: "work",
  merged: "merged",
  lower: "lower",
  replacement: "replacement",
  removed: "removed",
} as const;

export const overlaysFolder = (runDir: string): string => join(runDir, "apart");
/** The prefix of the names of all overlays of folders at this path, past and present. */
export const overlayPrefix = (folder: string): string => `${basename(folder)}-${hashText(folder)}-`;

/** Where writes to a folder are kept; null if there is no such folder. */
export function findOverlayFolder(runDir: string, folder: string): string | null {
  const stat = statSync(folder, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return null;
  return join(
    overlaysFolder(runDir),
    `${overlayPrefix(folder)}${hashText(`${stat.dev}:${stat.ino}:${stat.birthtimeNs}`)}`,
  ); // O1
}

const hashText = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 12);

/**
 * Creates the folders an overlay needs, if missing. The merged view has the mode of `upper`, so that
 * one is a usual folder's; the others are nobody else's business.
 */
export function createOverlayFolders(overlayFolder: string, folder: string): void {
  for (const name of [overlayNames.upper, overlayNames.work, overlayNames.merged]) {
    mkdirSync(join(overlayFolder, name), {
      recursive: true,
      mode: name === overlayNames.upper ? 0o755 : 0o700,
    });
  }

  try {
    symlinkSync(folder, join(overlayFolder, overlayNames.lower));
  } catch (error) {
    if (readErrorCode(error) !== "EEXIST") throw error;
  }
}
