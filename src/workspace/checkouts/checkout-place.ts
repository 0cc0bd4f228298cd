// checkout-place: where the parts of a checkout lie that is a view of a base, and how it is mounted by somebody without privileges: in users and
// mounts of its own, which nobody else sees and which end with the command.
//
// A checkout's folder holds what was written in it and nothing else; what it looks like from inside is that, over its lower folders.

import { existsSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { createHash } from "node:crypto";

export type MountPrograms = { readonly unshare: string; readonly mount: string };

/** `upper` leads to the checkout's folder, `lower0` and on to what is below it, the topmost first. */
const names = { upper: "upper", work: "work", merged: "merged", delta: "delta" } as const;
const lowerName = (at: number): string => `lower${at}`;

const checkoutsRoot = (runDir: string): string => join(runDir, "worlds");
const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 12);
/** Where the parts of the checkout at a folder lie. */
export const checkoutPlace = (runDir: string, folder: string): string =>
  join(checkoutsRoot(runDir), `${basename(dirname(folder))}-${basename(folder)}-${hashOf(folder)}`);
export const mergedIn = (place: string): string => join(place, names.merged);
export const deltaIn = (place: string): string => join(place, names.delta);

/** The place of the checkout at a folder; null if that is a folder like any other. */
export function checkoutAt(runDir: string, folder: string): string | null {
  const place = checkoutPlace(runDir, folder);
  return existsSync(join(place, lowerName(0))) ? place : null;
}

/** What is below a checkout, the topmost first. */
export const lowersOf = (place: string): readonly string[] =>
  readdirSync(place)
    .filter((name) => /^lower\d$/.test(name))
    .sort()
    .map((name) => readlinkSync(join(place, name)));

/** Lays the parts of a checkout out; the first lower folder makes it one, so it comes last. */
export function layOut(place: string, folder: string, lowers: readonly string[]): void {
  for (const name of [names.work, names.merged]) mkdirSync(join(place, name), { recursive: true, mode: 0o700 });
  symlinkSync(folder, join(place, names.upper));
  for (const [at, lower] of [...lowers.entries()].toReversed()) symlinkSync(lower, join(place, lowerName(at)));
}

/** The command line that runs a shell script where mounting is allowed and seen by nobody, with the checkout mounted. */
export function mountedCheckout(
  { unshare, mount }: MountPrograms,
  place: string,
  script: string,
  words: readonly string[],
): readonly string[] {
  // Names relative to the place: an option of mount could not hold every path's characters.
  const lowers = lowersOf(place).map((_, at) => lowerName(at));
  const options = `lowerdir=${lowers.join(":")},upperdir=${names.upper},workdir=${names.work},userxattr`;
  const mounting = `cd "$1" && "$2" -t overlay -o ${options} overlay ${names.merged} && cd / && shift 2`;
  return [
    unshare,
    "--user",
    "--map-root-user",
    "--mount",
    "--",
    "/bin/sh",
    "-c",
    `${mounting} && ${script}`,
    "autopilot-checkout",
    place,
    mount,
    ...words,
  ];
}
