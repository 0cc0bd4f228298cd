// private-config: writes an agent's config files below its private HOME, before a turn.
//
// Invariants:
//   C1. Only files that the profile names are written, and only below the private HOME: a link on
//       the way is replaced, never followed.
//   C2. Each exists whole or not at all: it is written to a temporary file and renamed.

import { randomBytes } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ChosenLogin } from "./profiles/choose-login.ts";
import { composeLaunch, type TurnValues } from "./profiles/compose-launch.ts";
import type { AgentProfile } from "./profiles/profile.ts";
import { invariant } from "../kit/invariant.ts";

/**
 * `folder` is the private HOME as seen from outside the sandbox; inside it may have another name.
 */
export type PrivateConfig = TurnValues & { readonly login: ChosenLogin; readonly folder?: string };

/** Writes the files and returns their paths, relative to HOME. */
export function writePrivateConfig(
  profile: AgentProfile,
  { login, folder, ...turnValues }: PrivateConfig,
): readonly string[] {
  const { files, env } = composeLaunch(profile, login, turnValues);
  const home = folder ?? turnValues.home;
  mkdirSync(home, { recursive: true, mode: 0o700 });
  for (const { path, text } of files) writeBelow(home, path, text);
  // A temporary folder that a profile puts below its HOME must exist before the agent starts.
  const temporaryFolder = env["TMPDIR"];
  if (temporaryFolder?.startsWith(`${turnValues.home}/`) === true) {
    ensureFolder(home, temporaryFolder.slice(turnValues.home.length + 1).split("/"));
  }

  return files.map(({ path }) => path);
}

/**
 * Writes one file below a folder that an agent may have worked in: no link it left there is
 * followed.
 */
export function writeBelow(home: string, path: string, content: string | Uint8Array): void {
  const parts = path.split("/");
  invariant(
    parts.every((part) => part !== "" && part !== "." && part !== ".."),
    "a path below HOME has no empty part, no . and no ..",
  );

  const folder = ensureFolder(home, parts.slice(0, -1));
  const temporary = join(folder, `.${randomBytes(6).toString("hex")}.new`);
  const target = join(folder, parts.at(-1) ?? "");

  try {
    writeFileSync(temporary, content, { flag: "wx", mode: 0o600 });
    chmodSync(temporary, 0o600);

    if (lstatSync(target, { throwIfNoEntry: false })?.isDirectory() === true) {
      rmSync(target, { recursive: true });
    }

    renameSync(temporary, target); // C2
  } finally {
    rmSync(temporary, { force: true });
  }
}

/**
 * The folder at this path below HOME, created if it is missing; a link or file in its place is
 * replaced.
 */
function ensureFolder(home: string, parts: readonly string[]): string {
  giveOwnerAccess(home, parts);
  let folder = home;

  for (const part of parts) {
    folder = join(folder, part);
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (stats?.isDirectory() === true) continue;
    if (stats !== undefined) rmSync(folder, { force: true }); // C1
    mkdirSync(folder, { mode: 0o700 });
  }

  return folder;
}

/**
 * Gives the owner full access to the folders on a path below HOME: an agent may have taken it away.
 * No link is followed.
 */
export function giveOwnerAccess(home: string, parts: readonly string[]): void {
  let folder = home;
  for (const part of [".", ...parts]) {
    folder = join(folder, part);
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (stats?.isDirectory() !== true) return;
    if ((stats.mode & 0o700) !== 0o700) chmodSync(folder, 0o700);
  }
}
