// srt-settings: builds the settings of Anthropic's sandbox runtime for one command, from the same
// lists as the other sandboxes (sandbox-paths.ts). The runtime allows reads unless they are denied,
// so every top-level folder without programs is denied, and what the command needs in it is allowed
// again.

import { readdirSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { homeSecrets, listToolchainPaths, machinePaths, machineSecrets } from "./sandbox-paths.ts";
import { isWithin, findProgramPaths, resolvePath } from "./program-paths.ts";
import type { Command, IsolationPlace } from "./confinement.ts";

export type SrtSettings = {
  readonly network: {
    readonly allowedDomains: readonly string[];
    readonly deniedDomains: readonly string[];
    readonly allowLocalBinding: boolean;
  };
  readonly filesystem: {
    readonly denyRead: readonly string[];
    readonly allowRead: readonly string[];
    readonly allowWrite: readonly string[];
    readonly denyWrite: readonly string[];
  };
};

export type SrtSettingsInput = {
  readonly place: IsolationPlace;
  readonly command: Command;
  readonly writable: readonly string[];
  /** The runtime's own program: it must be visible inside as well. */
  readonly program: string;
  readonly isMac: boolean;
};

/** Top-level folders that every program needs, besides those with programs. */
const neededTopFolders = [
  "/dev",
  "/proc",
  "/sys",
  "/System",
  "/Library",
  "/private",
  "/Applications",
  "/var",
  "/cores",
];

export function buildSrtSettings(
  { place, command, writable, program, isMac }: SrtSettingsInput,
  topFolders = readTopFolders(),
): SrtSettings {
  const userHome = toRealPath(homedir());
  const hidden = [...place.hidden, place.runDir].map(toRealPath);
  const isNeeded = (top: string): boolean =>
    neededTopFolders.includes(top) ||
    machinePaths.some((machinePlace) => isWithin(machinePlace, top) && top !== "/home");

  const programs = findProgramPaths({
    argv: [program, ...command.argv],
    path: command.env["PATH"] ?? "",
    home: userHome,
    hidden,
  });

  const secrets = [...machineSecrets, ...homeSecrets.map((path) => join(userHome, path))];
  const readablePaths = [...listToolchainPaths(userHome), ...programs, ...(command.readable ?? [])];

  // The runtime can deny or allow only existing folders; a missing one makes it fail.
  const keepExisting = (paths: readonly string[]): string[] => [
    ...new Set(paths.flatMap((path) => resolvePath(path)?.real ?? [])),
  ];

  return {
    network: {
      // Only the egress, by its exact address and port; an empty list allows nothing.
      allowedDomains:
        command.network === "egress" && command.egress !== undefined
          ? [`127.0.0.1:${command.egress.port}`]
          : [],
      deniedDomains: [],
      // A Mac has no network namespaces: the egress can be reached only if all of this machine can.
      allowLocalBinding: isMac && command.network === "egress",
    },
    filesystem: {
      denyRead: keepExisting([
        ...topFolders.filter((top) => !isNeeded(top)),
        userHome,
        tmpdir(),
        ...hidden,
        ...secrets,
      ]),
      allowRead: keepExisting([...readablePaths, ...writable]),
      allowWrite: keepExisting(writable),
      denyWrite: [],
    },
  };
}

function readTopFolders(): readonly string[] {
  return readdirSync("/", { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `/${name}`);
}

const toRealPath = (path: string): string => resolvePath(path)?.real ?? path;
