// checkout-place: the place of a checkout that is a view of a base (a folder of the run with what
// its mount needs), and how the view is mounted without privileges: in private user and mount
// namespaces, which end with the command.
//
// The checkout's own folder has only what was written in it; mounted, it appears merged with the
// lower folders.

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { createHash } from "node:crypto";
import type { SealedFolder } from "../bases/sealed-folder.ts";
import { writeFileAtomically } from "../folder.ts";
import { findMountPrograms, type MountPrograms } from "../isolation/overlay-mount.ts";
import { holdMountScript, type MergedView } from "./merged-view.ts";

/**
 * Names in a place: `upper` links to the checkout's folder, `lower0` and on to the lower folders,
 * the topmost first.
 */
/** `made`: the times and identities of the lower folders. */
const partNames = {
  upper: "upper",
  work: "work",
  merged: "merged",
  delta: "delta",
  made: "made",
} as const;
const lowerName = (index: number): string => `lower${index}`;

const checkoutsRoot = (runDir: string): string => join(runDir, "worlds");
const hashText = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 12);
/** The path of the place for the checkout at a folder. */
export const checkoutPlacePath = (runDir: string, folder: string): string =>
  join(
    checkoutsRoot(runDir),
    `${basename(dirname(folder))}-${basename(folder)}-${hashText(folder)}`,
  );
export const mergedFolder = (place: string): string => join(place, partNames.merged);
export const deltaFolder = (place: string): string => join(place, partNames.delta);

/** The place of the checkout at a folder; null if that is an ordinary folder. */
export function findCheckoutPlace(runDir: string, folder: string): string | null {
  const place = checkoutPlacePath(runDir, folder);
  return lstatSync(join(place, lowerName(0)), { throwIfNoEntry: false }) === undefined
    ? null
    : place; // also if what it links to is gone
}

/** The lower folders of a checkout, the topmost first. */
export const readLowers = (place: string): readonly string[] =>
  readdirSync(place)
    .filter((name) => /^lower\d$/.test(name))
    .sort()
    .map((name) => readlinkSync(join(place, name)));

/**
 * The lower folders, the topmost first, as they were sealed; a folder whose time is missing counts
 * as changed.
 */
export function readSealedLowers(place: string): readonly SealedFolder[] {
  const text = existsSync(join(place, partNames.made))
    ? readFileSync(join(place, partNames.made), "latin1")
    : "";
  const rows = text.split("\n").map((row) => row.split(" "));
  return readLowers(place).map((files, index) => {
    const [time = "", id = ""] = rows[index] ?? [];
    return { files, sealedNs: /^\d+$/.test(time) ? time : "0", id };
  });
}

/** Records lower folders that were created anew at the same paths. */
export async function rewriteSealedLowers(
  place: string,
  lowers: readonly SealedFolder[],
): Promise<void> {
  await writeFileAtomically(
    join(place, partNames.made),
    lowers.map(({ sealedNs, id }) => `${sealedNs} ${id}\n`).join(""),
  );
}

/**
 * Writes the parts of a checkout's place. A place counts as soon as it has its first lower folder,
 * so that link comes last. A lower folder given as a path is the checkout's own, and sealed as of
 * now.
 */
export function writeCheckoutParts(
  place: string,
  folder: string,
  lowers: readonly (SealedFolder | string)[],
): void {
  for (const name of [partNames.work, partNames.merged]) {
    mkdirSync(join(place, name), { recursive: true, mode: 0o700 });
  }

  symlinkSync(folder, join(place, partNames.upper));
  const nowNs = String(lstatSync(join(place, partNames.upper), { bigint: true }).ctimeNs);
  const rows = lowers.map((lower) =>
    typeof lower === "string" ? `${nowNs}\n` : `${lower.sealedNs} ${lower.id}\n`,
  );
  writeFileSync(join(place, partNames.made), rows.join(""));

  for (const [index, lower] of [...lowers.entries()].toReversed()) {
    symlinkSync(typeof lower === "string" ? lower : lower.files, join(place, lowerName(index)));
  }
}

/** The checkout as a whole, to be read while no command runs in it. */
export function describeMergedView(place: string): MergedView {
  const programs = findMountPrograms();

  return {
    overlayFolder: place,
    merged: mergedFolder(place),
    mountCommand: composeMountedCheckout(programs, place, holdMountScript, []),
    messages: {
      notMounted: "What was written could not be looked at as a whole",
      notMerged: "What was written could not be looked at as one with what it was written over.",
    },
  };
}

/**
 * The command line that runs a shell script in a private mount namespace, with the checkout
 * mounted. `args` are the script's arguments.
 */
export function composeMountedCheckout(
  { unshare, mount }: MountPrograms,
  place: string,
  script: string,
  args: readonly string[],
): readonly string[] {
  // Relative paths: a mount option could not express every path's characters.
  const lowers = readLowers(place).map((_, index) => lowerName(index));
  const mountOptions = `lowerdir=${lowers.join(":")},upperdir=${partNames.upper},workdir=${partNames.work},userxattr`;
  const mountScript = `cd "$1" && "$2" -t overlay -o ${mountOptions} overlay ${partNames.merged} && cd / && unset OLDPWD && shift 2`;

  return [
    unshare,
    "--user",
    "--map-root-user",
    "--mount",
    "--",
    "/bin/sh",
    "-c",
    `${mountScript} && ${script}`,
    "autopilot-checkout",
    place,
    mount,
    ...args,
  ];
}
