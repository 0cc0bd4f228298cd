// srt-settings: what Anthropic's sandbox runtime is given for one command, from the lists a box is made of. Its reads are open unless denied,
// so every top of the machine that holds no programs is denied, and what the command needs of it is given back.

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
  /** The runtime's own program: it must be seen inside as well. */
  readonly program: string;
  readonly isMac: boolean;
};

/** Tops that every program needs, besides those that hold programs. */
const neededTops = ["/dev", "/proc", "/sys", "/System", "/Library", "/private", "/Applications", "/var", "/cores"];

export function settingsFor({ place, command, writable, program, isMac }: SettingsInput, tops = topsHere()): SrtSettings {
  const own = realOf(homedir());
  const hidden = [...place.hidden, place.runDir].map(realOf);
  const isNeeded = (top: string): boolean => neededTops.includes(top) || machinePlaces.some((one) => isWithin(one, top) && top !== "/home");
  const programs = programPlaces({ argv: [program, ...command.argv], path: command.env["PATH"] ?? "", home: own, hidden });
  const secrets = [...machineSecrets, ...homeSecrets.map((path) => join(own, path))];
  const given = [...homeToolchains.map((path) => join(own, path)), ...programs, ...(command.readable ?? [])];
  // A folder that is there is all the runtime can deny or give; a name for nothing makes it stumble.
  const there = (paths: readonly string[]): string[] => [...new Set(paths.flatMap((path) => wayTo(path)?.real ?? []))];
  return {
    network: {
      // Only the egress, by its very address and port; an empty list lets nothing through.
      allowedDomains: command.network === "egress" && command.egress !== undefined ? [`127.0.0.1:${command.egress.port}`] : [],
      deniedDomains: [],
      // There is no network of one's own on a Mac: the egress can be reached only if all of this machine can.
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
