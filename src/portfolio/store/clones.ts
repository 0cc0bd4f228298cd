// clones: the clone of a project's repository on this machine. A portfolio in a store names the repository of the machine it was made on;
// another machine says which of its folders that is.

import { join } from "node:path";
import { readOwnFile } from "../../project/own-file.ts";
import type { PortfolioPaths } from "./folder.ts";
import { replace } from "./log-lines.ts";

/** By the repository that the journal names. */
export type Clones = Readonly<Record<string, string>>;

const clonesPath = ({ own }: Pick<PortfolioPaths, "own">): string => join(own, "clones.json");

export function readClones(paths: Pick<PortfolioPaths, "own">): Clones {
  const text = readOwnFile(clonesPath(paths));
  if (text === null) return {};
  try {
    const stored = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return Object.fromEntries(Object.entries(stored).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  } catch {
    return {}; // then every repository is where its project says
  }
}

export const writeClones = (paths: Pick<PortfolioPaths, "own">, clones: Clones): void =>
  replace(clonesPath(paths), `${JSON.stringify(clones)}\n`, 0o600);

/** The one that was named here, or else where its project says. */
export const findClone = (paths: Pick<PortfolioPaths, "own">, repository: string): string => {
  const clones = readClones(paths);
  return Object.hasOwn(clones, repository) ? (clones[repository] ?? repository) : repository;
};
