// overlay: isolation by an overlay in a bubblewrap sandbox. The command sees its folder and may
// change it, but its writes are kept beside the folder, which is unchanged until `collect` merges
// them. Commands that write directly get the same sandbox without an overlay.

import { findBwrapVariants, type BwrapVariant } from "./bwrap-variants.ts";
import { isWithin, findProgramOnPath, resolvePath } from "./program-paths.ts";
import { testSandbox } from "./sandbox-self-test.ts";
import { buildSandbox, openFilter } from "./bwrap-sandbox.ts";
import { sandboxPromises, chooseBwrapVariant, failToStart, wrapInSandbox } from "./bwrap.ts";
import type { Command, Isolation, IsolationPlace, WrappedCommand } from "./confinement.ts";
import { mergeOverlay } from "./overlay-collect.ts";
import {
  mergedFolder,
  composeMountedCheckout,
  findCheckoutPlace,
} from "../checkouts/checkout-place.ts";
import { overlayNames, findOverlayFolder, createOverlayFolders } from "./overlay-folders.ts";
import { composeMountedShell, findMountPrograms, type MountPrograms } from "./overlay-mount.ts";

export function createOverlayIsolation(outerPlace: IsolationPlace): Isolation {
  const place = { ...outerPlace, runDir: toRealPath(outerPlace.runDir) };
  // bubblewrap is root in the overlay's user namespace; the command must keep its own user.
  const candidates = findBwrapVariants("own", place.cache, {
    uid: process.getuid?.() ?? 0,
    gid: process.getgid?.() ?? 0,
  });
  let [chosen] = candidates;
  const programs = findMountPrograms();

  const collect = (folder: string): Promise<void> =>
    mergeOverlay({ runDir: place.runDir, folder: toRealPath(folder), programs });
  return {
    level: "overlay",
    mechanism: "overlay in bubblewrap",
    enforced: [
      ...sandboxPromises.enforced,
      "an agent's writes are kept apart from the layer and brought in by the runner",
    ],
    not_enforced: sandboxPromises.not_enforced,
    wrap: (command) =>
      chosen === undefined ? failToStart(command) : wrapInOverlay(place, programs, chosen, command),
    hasOwnNetwork: true,
    collect,
    selfTest: async () => {
      const missing = ["unshare", "mount"].filter((name) => findProgramOnPath(name) === null);
      if (missing.length > 0 && candidates.length > 0) {
        return [`${missing.join(" and ")} (util-linux) is not installed`];
      }

      const wrap = (variant: BwrapVariant) => (command: Command) =>
        wrapInOverlay(place, programs, variant, command);
      const choice = await chooseBwrapVariant(candidates, {
        level: "overlay",
        programs: ["bwrap", "unshare", "mount", "/bin/sh"],
        cache: place.cache,
        test: (variant) => testSandbox({ place, wrap: wrap(variant), collect }),
      });
      if ("failures" in choice) return choice.failures;
      chosen = choice.variant;

      return [];
    },
  };
}

function wrapInOverlay(
  place: IsolationPlace,
  programs: MountPrograms,
  variant: BwrapVariant,
  command: Command,
): WrappedCommand {
  const folder = toRealPath(command.cwd);
  const checkoutPlace = isOwnFolder(place, command, folder)
    ? findCheckoutPlace(place.runDir, folder)
    : null;
  if (checkoutPlace !== null) {
    const { argv, env, filter } = buildSandbox({
      place,
      variant,
      command,
      mountedFolder: (path) => (path === folder ? mergedFolder(checkoutPlace) : path),
    });

    return {
      argv: composeMountedCheckout(programs, checkoutPlace, openFilter, [filter, ...argv]),
      env,
      cwd: command.cwd,
    };
  }

  const overlayFolder = isKeptApart(place, command, folder)
    ? findOverlayFolder(place.runDir, folder)
    : null;
  if (overlayFolder === null) return wrapInSandbox(place, asUser(variant), command);
  createOverlayFolders(overlayFolder, folder);
  const mountedFolder = (path: string): string =>
    path === folder ? `${overlayFolder}/${overlayNames.merged}` : path;
  const { argv, env, filter } = buildSandbox({ place, variant, command, mountedFolder });

  return {
    argv: composeMountedShell(programs, overlayFolder, openFilter, [filter, ...argv]),
    env,
    cwd: command.cwd,
  };
}

/** The same variant with bubblewrap running as the user. */
const asUser = ({ users, ...variant }: BwrapVariant): BwrapVariant => ({
  ...variant,
  users: { kind: users.kind === "closed" ? "closed" : "tried" },
});

/**
 * Whether the folder is the command's to write and in the run's folder, so that what is kept beside
 * it is on the same disk.
 */
const isOwnFolder = ({ runDir }: IsolationPlace, { writable }: Command, folder: string): boolean =>
  writable.some((path) => toRealPath(path) === folder) && isWithin(folder, toRealPath(runDir));
const isKeptApart = (place: IsolationPlace, command: Command, folder: string): boolean =>
  command.writes === "apart" && isOwnFolder(place, command, folder);

const toRealPath = (path: string): string => resolvePath(path)?.real ?? path;
