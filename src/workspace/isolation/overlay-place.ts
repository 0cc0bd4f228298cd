// overlay-place: the paths of an overlay's own folders, and how it is mounted without privileges:
// in private user and mount namespaces, which end with the command.
//
// Invariants:
//   O1. What is kept apart belongs to one folder and not to a later one of the same name.

import { createHash } from "node:crypto";
import { mkdirSync, statSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { readErrorCode } from "../failure.ts";

/**
 * Names in an overlay's folder: the written files (`upper`), the kernel's work folder (`work`), the
 * merged view (`merged`), a link to the folder (`lower`). While writes are merged into the folder:
 * the temporary name of the next entry (`draft`), and what was removed or replaced there (`gone`).
 */
export const overlayNames = {
  upper: "upper",
  work: "work",
  merged: "merged",
  lower: "lower",
  draft: "draft",
  gone: "gone",
} as const;

export const overlaysRoot = (runDir: string): string => join(runDir, "apart");
/** The prefix of the names of all overlays of folders at this path, past and present. */
export const overlayPrefix = (folder: string): string => `${basename(folder)}-${hashText(folder)}-`;

/** Where writes to a folder are kept; null if there is no such folder. */
export function findOverlayFolder(runDir: string, folder: string): string | null {
  const stat = statSync(folder, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return null;
  return join(
    overlaysRoot(runDir),
    `${overlayPrefix(folder)}${hashText(`${stat.dev}:${stat.ino}:${stat.birthtimeNs}`)}`,
  ); // O1
}

const hashText = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 12);

/** Creates the folders an overlay needs, if missing. */
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

// Relative paths: a mount option could not express every path's characters.
const { upper, work, merged, lower } = overlayNames;
const options = `lowerdir=${lower},upperdir=${upper},workdir=${work},userxattr`;
/** With the overlay's folder and the mount program as first arguments, which are then shifted. */
const mountScript = `cd "$1" && "$2" -t overlay -o ${options} overlay ${merged} && cd / && unset OLDPWD && shift 2`;

export type MountPrograms = { readonly unshare: string; readonly mount: string };

/**
 * The command line that runs a shell script in a private mount namespace, with the overlay mounted.
 */
export const composeMountedShell = (
  { unshare, mount }: MountPrograms,
  overlayFolder: string,
  script: string,
  words: readonly string[],
): readonly string[] => [
  unshare,
  "--user",
  "--map-root-user",
  "--mount",
  "--",
  "/bin/sh",
  "-c",
  `${mountScript} && ${script}`,
  "autopilot-overlay",
  overlayFolder,
  mount,
  ...words,
];
