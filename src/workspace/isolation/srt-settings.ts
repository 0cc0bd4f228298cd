// srt-settings: the settings of Anthropic's sandbox runtime for one command, from the same lists as a box. Its reads are allowed unless
// denied, so every top-level folder without programs is denied, and what the command needs of it is allowed again.

import { readdirSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { homeSecrets, homeToolchains, machinePlaces, machineSecrets } from "./box-places.ts";
import { isWithin, programPlaces, wayTo } from "./box-programs.ts";
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

export type SettingsInput = {
  readonly place: IsolationPlace;
  readonly command: Command;
  readonly writable: readonly string[];
  /** The runtime's own program: it must be visible inside as well. */
  readonly program: string;
  readonly isMac: boolean;
};

/** Top-level folders that every program needs, besides those with programs. */
const neededTops = ["/dev", "/proc", "/sys", "/System", "/Library", "/private", "/Applications", "/var", "/cores"];

export function settingsFor({ place, command, writable, program, isMac }: SettingsInput, tops = topsHere()): SrtSettings {
  const own = realOf(homedir());
  const hidden = [...place.hidden, place.runDir].map(realOf);
  const isNeeded = (top: string): boolean =>
    neededTops.includes(top) || machinePlaces.some((machinePlace) => isWithin(machinePlace, top) && top !== "/home");
  const programs = programPlaces({ argv: [program, ...command.argv], path: command.env["PATH"] ?? "", home: own, hidden });
  const secrets = [...machineSecrets, ...homeSecrets.map((path) => join(own, path))];
  const given = [...homeToolchains.map((path) => join(own, path)), ...programs, ...(command.readable ?? [])];
  // The runtime can deny or allow only existing folders; a missing one makes it fail.
  const there = (paths: readonly string[]): string[] => [...new Set(paths.flatMap((path) => wayTo(path)?.real ?? []))];
  return {
    network: {
      // Only the egress, by its exact address and port; an empty list allows nothing.
      allowedDomains: command.network === "egress" && command.egress !== undefined ? [`127.0.0.1:${command.egress.port}`] : [],
      deniedDomains: [],
      // A Mac has no network namespaces: the egress can be reached only if all of this machine can.
      allowLocalBinding: isMac && command.network === "egress",
    },
    filesystem: {
      denyRead: there([...tops.filter((top) => !isNeeded(top)), own, tmpdir(), ...hidden, ...secrets]),
      allowRead: there([...given, ...writable]),
      allowWrite: there(writable),
      denyWrite: [],
    },
  };
}

function topsHere(): readonly string[] {
  return readdirSync("/", { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `/${name}`);
}

const realOf = (path: string): string => wayTo(path)?.real ?? path;
