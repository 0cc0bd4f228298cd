// landlock-rules: what a landlocked command may read and write, from the same lists as a sandbox
// (sandbox-paths.ts).
//
// Invariants:
//   R1. An allowlist, never a denylist: what is not listed is refused.
//   R2. Landlock grants whole trees and revokes nothing: a path with a secret in it is granted
//       piece by piece, without it.
//   R3. A hidden folder can't be made to look empty: a file in it is there and is refused. Settings
//       that tools look for above their folder can be read, if they are regular files.

import { existsSync, lstatSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import {
  homeSecrets,
  listToolchainPaths,
  linkedEtcFiles,
  machinePaths,
  machineSecrets,
  parentSettings,
} from "./sandbox-paths.ts";
import { isWithin, findProgramPaths, resolvePath } from "./program-paths.ts";
import type { Command, IsolationPlace } from "./confinement.ts";
import { landlockAccess, landlockAccessAll } from "./landlock-program.ts";

/** What a command may do below a path, as the kernel's bits. */
export type LandlockRule = readonly [rights: number, path: string];

// Access rights for what is only read, for folders that may be written, and for devices.
const readRights = landlockAccess.execute | landlockAccess.readFile | landlockAccess.readFolder;
/** Everything but devices: those can be neither created nor used. */
const writeRights = landlockAccessAll & ~landlockAccess.makeDevices & ~landlockAccess.ioctl;
const deviceRights = landlockAccess.readFile | landlockAccess.writeFile | landlockAccess.ioctl;

/**
 * No terminals: those of the same user could be read and written, and Landlock cannot distinguish
 * them.
 */
const devices = ["null", "zero", "full", "random", "urandom"].map((name) => `/dev/${name}`);
/**
 * Read by nearly every program about itself and the machine; of other processes Landlock shows only
 * what all users may see.
 */
const kernelPlaces = ["/proc"];
/** Of a folder with a secret in it, further entries are not granted. */
const piecesMax = 4_000;

export type RulesInput = {
  readonly place: IsolationPlace;
  readonly command: Command;
  readonly writable: readonly string[];
};

/** Every rule of a command (R1). */
export function buildLandlockRules({
  place,
  command,
  writable,
}: RulesInput): readonly LandlockRule[] {
  const userHome = homedir();
  const hidden = [...place.hidden, place.runDir].map(toRealPath);

  const programs = findProgramPaths({
    argv: command.argv,
    path: command.env["PATH"] ?? "",
    home: toRealPath(userHome),
    hidden,
  });
  const programPaths = [
    ...machinePaths,
    ...linkedEtcFiles,
    ...listToolchainPaths(userHome),
    ...programs,
  ].flatMap((path) => resolvePath(path)?.real ?? []);

  const secrets = [...machineSecrets, ...homeSecrets.map((path) => join(userHome, path))]
    .filter((path) => existsSync(path))
    .concat(hidden);
  const pieces = keepOutermost(programPaths).flatMap((path) => grantWithoutSecrets(path, secrets)); // R2
  const readable = (command.readable ?? []).flatMap((path) => resolvePath(path)?.real ?? []);

  return [
    ...pieces,
    ...[...readable, ...kernelPlaces, ...findParentSettings(command.cwd)].map(
      (path): LandlockRule => [readRights, path],
    ),
    ...devices.map((path): LandlockRule => [deviceRights, path]),
    ...writable.map((path): LandlockRule => [writeRights, toRealPath(path)]),
  ];
}

/** R3. A link could lead to any file of the user's. */
function findParentSettings(folder: string): readonly string[] {
  const isRegularFile = (path: string): boolean =>
    resolvePath(path)?.real === path &&
    lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;

  const parents = listParents(toRealPath(folder));
  return parents
    .flatMap((parent) => parentSettings.map((name) => join(parent, name)))
    .filter(isRegularFile);
}

function listParents(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [] : [parent, ...listParents(parent)];
}

/** A folder inside a granted one is granted already. */
const keepOutermost = (paths: readonly string[]): readonly string[] => {
  const uniquePaths = [...new Set(paths)];
  return uniquePaths.filter(
    (path) => !uniquePaths.some((folder) => folder !== path && isWithin(path, folder)),
  );
};

/**
 * Rules for reading a path except for its secrets, whose names may be listed and whose contents may
 * not be read (R2).
 */
function grantWithoutSecrets(path: string, secrets: readonly string[]): readonly LandlockRule[] {
  if (secrets.some((secret) => isWithin(path, secret))) return [];
  const secretsInside = secrets.filter((secret) => isWithin(secret, path));
  if (secretsInside.length === 0 && !isEtcOfRoot(path)) return [[readRights, path]];
  if (!(lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false)) {
    return isPrivate(path) ? [] : [[readRights, path]];
  }

  const below = readNames(path)
    .slice(0, piecesMax)
    .map((name) => join(path, name))
    .filter((piece) => !isPrivate(piece))
    .flatMap((piece) => grantWithoutSecrets(piece, secretsInside));
  return [[landlockAccess.readFolder, path], ...below];
}

/**
 * Root may read everything, so for root files of /etc that not every user may read are left out.
 */
const isEtcOfRoot = (path: string): boolean => process.getuid?.() === 0 && path === "/etc";

/** Whether root runs this, and not every user may read this file of /etc. */
function isPrivate(path: string): boolean {
  if (process.getuid?.() !== 0 || !path.startsWith("/etc/")) return false;
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat !== undefined && !stat.isSymbolicLink() && (stat.mode & 0o004) === 0;
}

function readNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const toRealPath = (path: string): string => resolvePath(path)?.real ?? path;
