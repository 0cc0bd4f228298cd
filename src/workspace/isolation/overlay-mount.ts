// overlay-mount: how an overlay is mounted without privileges: in private user and mount namespaces,
// which end with the command.

import { overlayNames } from "./overlay-folders.ts";
import { findProgramOnPath } from "./program-paths.ts";

// Relative paths: a mount option could not express every path's characters.
const { upper, work, merged, lower } = overlayNames;
const mountOptions = `lowerdir=${lower},upperdir=${upper},workdir=${work},userxattr`;
/** With the overlay's folder and the mount program as first arguments, which are then shifted. */
const mountScript = `cd "$1" && "$2" -t overlay -o ${mountOptions} overlay ${merged} && cd / && unset OLDPWD && shift 2`;

export type MountPrograms = { readonly unshare: string; readonly mount: string };

export const findMountPrograms = (): MountPrograms => ({
  unshare: findProgramOnPath("unshare") ?? "unshare",
  mount: findProgramOnPath("mount") ?? "mount",
});

/**
 * The command line that runs a shell script in a private mount namespace, with the overlay mounted.
 * `args` are the script's arguments.
 */
export const composeMountedShell = (
  { unshare, mount }: MountPrograms,
  overlayFolder: string,
  script: string,
  args: readonly string[],
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
  ...args,
];
