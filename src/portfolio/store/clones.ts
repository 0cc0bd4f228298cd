// clones: which folder of this machine is the clone of each repository. A portfolio in a store
// names folders of the machine it was made on; `clones.json` maps them to folders here.

import { join } from "node:path";
import { readOwnFile } from "../../project/own-file.ts";
import type { PortfolioPaths } from "./folder.ts";
import { replaceFile } from "./log-lines.ts";

/** The folder here, by the folder that the journal names. */
export type Clones = Readonly<Record<string, string>>;

const clonesPath = ({ ownFolder }: Pick<PortfolioPaths, "ownFolder">): string =>
  join(ownFolder, "clones.json");

export function readClones(paths: Pick<PortfolioPaths, "ownFolder">): Clones {
  const text = readOwnFile(clonesPath(paths));
  if (text === null) return {};

  try {
    const stored = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return Object.fromEntries(Object.entries(stored).filter(hasFolder));
  } catch {
    return {}; // then every repository is where its project says
  }
}

const hasFolder = (entry: readonly [string, unknown]): entry is [string, string] =>
  typeof entry[1] === "string";

export const writeClones = (paths: Pick<PortfolioPaths, "ownFolder">, clones: Clones): void =>
  replaceFile(clonesPath(paths), `${JSON.stringify(clones)}\n`, 0o600);

/** The folder that was named here, otherwise the one that the journal names. */
export const findClone = (paths: Pick<PortfolioPaths, "ownFolder">, repository: string): string => {
  const clones = readClones(paths);
  return Object.hasOwn(clones, repository) ? (clones[repository] ?? repository) : repository;
};
