// overlay: isolation by an overlay in a bubblewrap box. The command sees its folder and may change it, but its writes are kept beside the
// folder, which is unchanged until `collect` merges them. Commands that write directly get the same box without it.

import { boxMeansHere, type BoxMeans } from "./box-means.ts";
import { isWithin, programOnPath, resolvePath } from "./box-programs.ts";
import { testBox } from "./box-test.ts";
import { buildBox, openFilter } from "./box.ts";
import { boxPromises, chooseBoxMeans, failToStart, wrapInBox } from "./bwrap.ts";
import type { Command, Isolation, IsolationPlace, Wrapped } from "./confinement.ts";
import { mergeOverlay } from "./overlay-collect.ts";
import { mergedFolder, mountedCheckout, checkoutAt } from "../checkouts/checkout-place.ts";
import { overlayNames, overlayFolderFor, createOverlayFolders, mountedShell, type MountPrograms } from "./overlay-place.ts";

export function overlayIsolation(outerPlace: IsolationPlace): Isolation {
  const place = { ...outerPlace, runDir: realPath(outerPlace.runDir) };
  // bubblewrap is root in the overlay's user namespace; the command must keep its own user.
  const candidates = boxMeansHere("own", place.cache, { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
  let [chosen] = candidates;
  const programs = { unshare: programOnPath("unshare") ?? "unshare", mount: programOnPath("mount") ?? "mount" };
  const collect = (folder: string): Promise<void> => mergeOverlay({ runDir: place.runDir, folder: realPath(folder), programs });
  return {
    level: "overlay",
    mechanism: "overlay in bubblewrap",
    enforced: [...boxPromises.enforced, "an agent's writes are kept apart from the layer and brought in by the runner"],
    not_enforced: boxPromises.not_enforced,
    wrap: (command) => (chosen === undefined ? failToStart(command) : wrapInOverlay(place, programs, chosen, command)),
    hasOwnNetwork: true,
    collect,
    selfTest: async () => {
      const missing = ["unshare", "mount"].filter((name) => programOnPath(name) === null);
      if (missing.length > 0 && candidates.length > 0) return [`${missing.join(" and ")} (util-linux) is not installed`];
      const wrap = (means: BoxMeans) => (command: Command) => wrapInOverlay(place, programs, means, command);
      const choice = await chooseBoxMeans(candidates, {
        level: "overlay",
        programs: ["bwrap", "unshare", "mount", "/bin/sh"],
        cache: place.cache,
        test: (means) => testBox({ place, wrap: wrap(means), collect }),
      });
      if ("failures" in choice) return choice.failures;
      chosen = choice.means;
      return [];
    },
  };
}

function wrapInOverlay(place: IsolationPlace, programs: MountPrograms, means: BoxMeans, command: Command): Wrapped {
  const folder = realPath(command.cwd);
  const mount = isOwnFolder(place, command, folder) ? checkoutAt(place.runDir, folder) : null;
  if (mount !== null) {
    const { argv, env, filter } = buildBox({ place, means, command, shownAt: (path) => (path === folder ? mergedFolder(mount) : path) });
    return { argv: mountedCheckout(programs, mount, openFilter, [filter, ...argv]), env, cwd: command.cwd };
  }
  const overlayFolder = isKeptApart(place, command, folder) ? overlayFolderFor(place.runDir, folder) : null;
  if (overlayFolder === null) return wrapInBox(place, asUser(means), command);
  createOverlayFolders(overlayFolder, folder);
  const shownAt = (path: string): string => (path === folder ? `${overlayFolder}/${overlayNames.merged}` : path);
  const { argv, env, filter } = buildBox({ place, means, command, shownAt });
  return { argv: mountedShell(programs, overlayFolder, openFilter, [filter, ...argv]), env, cwd: command.cwd };
}

/** The same variant with bubblewrap running as the user. */
const asUser = ({ users, ...means }: BoxMeans): BoxMeans => ({ ...means, users: { kind: users.kind === "closed" ? "closed" : "tried" } });

/** Only a folder of the run: what is kept beside it is on the same disk. */
const isOwnFolder = ({ runDir }: IsolationPlace, { writable }: Command, folder: string): boolean =>
  writable.some((path) => realPath(path) === folder) && isWithin(folder, realPath(runDir));
const isKeptApart = (place: IsolationPlace, command: Command, folder: string): boolean =>
  command.writes === "apart" && isOwnFolder(place, command, folder);

const realPath = (path: string): string => resolvePath(path)?.real ?? path;
