// overlay: isolation by an overlay in a bubblewrap box. The command sees its folder and may change it, but its writes are kept beside the
// folder, which is unchanged until `collect` merges them. Commands that write directly get the same box without it.

import { findBwrapVariants, type BwrapVariant } from "./bwrap-variants.ts";
import { isWithin, findProgramOnPath, resolvePath } from "./program-paths.ts";
import { testSandbox } from "./sandbox-self-test.ts";
import { buildSandbox, openFilter } from "./bwrap-sandbox.ts";
import { sandboxPromises, chooseBwrapVariant, failToStart, wrapInSandbox } from "./bwrap.ts";
import type { Command, Isolation, IsolationPlace, WrappedCommand } from "./confinement.ts";
import { mergeOverlay } from "./overlay-collect.ts";
import { mergedFolder, composeMountedCheckout, findCheckoutPlace } from "../checkouts/checkout-place.ts";
import { overlayNames, findOverlayFolder, createOverlayFolders, composeMountedShell, type MountPrograms } from "./overlay-place.ts";

export function createOverlayIsolation(outerPlace: IsolationPlace): Isolation {
  const place = { ...outerPlace, runDir: realPath(outerPlace.runDir) };
  // bubblewrap is root in the overlay's user namespace; the command must keep its own user.
  const candidates = findBwrapVariants("own", place.cache, { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
  let [chosen] = candidates;
  const programs = { unshare: findProgramOnPath("unshare") ?? "unshare", mount: findProgramOnPath("mount") ?? "mount" };
  const collect = (folder: string): Promise<void> => mergeOverlay({ runDir: place.runDir, folder: realPath(folder), programs });
  return {
    level: "overlay",
    mechanism: "overlay in bubblewrap",
    enforced: [...sandboxPromises.enforced, "an agent's writes are kept apart from the layer and brought in by the runner"],
    not_enforced: sandboxPromises.not_enforced,
    wrap: (command) => (chosen === undefined ? failToStart(command) : wrapInOverlay(place, programs, chosen, command)),
    hasOwnNetwork: true,
    collect,
    selfTest: async () => {
      const missing = ["unshare", "mount"].filter((name) => findProgramOnPath(name) === null);
      if (missing.length > 0 && candidates.length > 0) return [`${missing.join(" and ")} (util-linux) is not installed`];
      const wrap = (means: BwrapVariant) => (command: Command) => wrapInOverlay(place, programs, means, command);
      const choice = await chooseBwrapVariant(candidates, {
        level: "overlay",
        programs: ["bwrap", "unshare", "mount", "/bin/sh"],
        cache: place.cache,
        test: (means) => testSandbox({ place, wrap: wrap(means), collect }),
      });
      if ("failures" in choice) return choice.failures;
      chosen = choice.means;
      return [];
    },
  };
}

function wrapInOverlay(place: IsolationPlace, programs: MountPrograms, means: BwrapVariant, command: Command): WrappedCommand {
  const folder = realPath(command.cwd);
  const mount = isOwnFolder(place, command, folder) ? findCheckoutPlace(place.runDir, folder) : null;
  if (mount !== null) {
    const { argv, env, filter } = buildSandbox({
      place,
      means,
      command,
      shownAt: (path) => (path === folder ? mergedFolder(mount) : path),
    });
    return { argv: composeMountedCheckout(programs, mount, openFilter, [filter, ...argv]), env, cwd: command.cwd };
  }
  const overlayFolder = isKeptApart(place, command, folder) ? findOverlayFolder(place.runDir, folder) : null;
  if (overlayFolder === null) return wrapInSandbox(place, asUser(means), command);
  createOverlayFolders(overlayFolder, folder);
  const shownAt = (path: string): string => (path === folder ? `${overlayFolder}/${overlayNames.merged}` : path);
  const { argv, env, filter } = buildSandbox({ place, means, command, shownAt });
  return { argv: composeMountedShell(programs, overlayFolder, openFilter, [filter, ...argv]), env, cwd: command.cwd };
}

/** The same variant with bubblewrap running as the user. */
const asUser = ({ users, ...means }: BwrapVariant): BwrapVariant => ({
  ...means,
  users: { kind: users.kind === "closed" ? "closed" : "tried" },
});

/** Only a folder of the run: what is kept beside it is on the same disk. */
const isOwnFolder = ({ runDir }: IsolationPlace, { writable }: Command, folder: string): boolean =>
  writable.some((path) => realPath(path) === folder) && isWithin(folder, realPath(runDir));
const isKeptApart = (place: IsolationPlace, command: Command, folder: string): boolean =>
  command.writes === "apart" && isOwnFolder(place, command, folder);

const realPath = (path: string): string => resolvePath(path)?.real ?? path;
