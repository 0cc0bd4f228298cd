// paired-data: finds data files that tests name by a folder or a pattern, and not one by one: `for
// f in cases/*.ini` with `"${f%.ini}.env"` beside it. Pure.
//
// Invariants:
//   D1. Only pairs count, files of different kinds with the same name: what is given, and what is
//       expected of it. Other data that is named by a pattern is mostly one of many that a test
//       only looks through.

import { dirname } from "node:path/posix";
import { filesReadMax } from "../lab.ts";
import type { TextFile } from "../questions/question-context.ts";

/** What files of one kind have in common: their folder and how their names end. */
export const kindOf = (path: string): string => path.replace(/[^/]*?(?=\.[^/]*$|$)/, "");
export const toStem = (path: string): string => path.replace(/\.[^./]*$/, "");

/** `tests`: the tests, and the commands that may be tests themselves. */
export function findPairedFiles(
  tests: readonly TextFile[],
  paths: Iterable<string>,
  isWanted: (path: string) => boolean,
): readonly string[] {
  const patterns = tests.map(listPatterns);
  const wanted = [...paths].filter(isWanted);
  const named = wanted.filter((path) => patterns.some((pattern) => isNamedBy(pattern, path)));

  const stems = new Set(named.map(toStem));
  const namedOrBeside = wanted.filter((path) => stems.has(toStem(path)));

  const groups = groupByName(namedOrBeside);
  const paired = groups.filter((group) => new Set(group.map(kindOf)).size > 1); // D1
  return [...new Set(paired.flat())].slice(0, filesReadMax);
}

/** Files of one name beside each other, or in folders beside each other (`in/a.txt`, `out/a.txt`). */
function groupByName(paths: readonly string[]): readonly (readonly string[])[] {
  const groups = new Map<string, string[]>();

  for (const path of paths) {
    const name = toStem(path.split("/").at(-1) ?? path);
    const folder = dirname(path);
    for (const key of [`${folder} ${name}`, `${dirname(folder)} / ${name}`]) {
      groups.set(key, [...(groups.get(key) ?? []), path]);
    }
  }

  return [...groups.values()];
}

function isNamedBy({ home, folders, endings }: Patterns, path: string): boolean {
  const ownFolders = path.split("/").slice(0, -1);
  if (ownFolders.some((folder) => folders.has(folder))) return true;

  const isNearTest = home === "." || path.startsWith(`${home}/`);
  return isNearTest && endings.some((ending) => path.endsWith(ending));
}

type Patterns = {
  /** The folder of the test. */
  readonly home: string;
  readonly folders: ReadonlySet<string>;
  /** Of `*.ini`, or `".ini"` in quotes. */
  readonly endings: readonly string[];
};

function listPatterns({ path, text }: TextFile): Patterns {
  const words = text.split(/[\s"'`=;()|&<>,{}$]+/);
  const folders = words
    .filter((word) => word.includes("/"))
    .flatMap((word) => word.split("/"))
    .filter((part) => /^[\w-][\w.-]*$/.test(part));

  const quoted = [...text.matchAll(/["'`]([\w-]+)["'`]/g)].map(([, word = ""]) => word);
  const endings = [...text.matchAll(/\*(\.\w[\w.]*)|["'`](\.\w+)["'`]/g)].map(
    ([, pattern, ending]) => pattern ?? ending ?? "",
  );

  return { home: dirname(path), folders: new Set([...folders, ...quoted]), endings };
}
