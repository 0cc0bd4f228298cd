// built-files: finds files of a change that make makes by itself. A committed one keeps make from
// making it anew, so that nothing shows in it of what an experiment changes.

import type { StringSet } from "../../kit/as-set.ts";
import type { Difference } from "../../ports/workspace.ts";
import { listMakeTargets, makefileNames } from "../gates/named-commands.ts";

/** New files that a makefile of the base makes, in their own folder or one above. */
export async function findBuiltFiles(
  differences: readonly Difference[],
  base: StringSet,
  textAtBase: (path: string) => Promise<string | null>,
): Promise<ReadonlySet<string>> {
  const added = differences.filter(({ kind }) => kind === "added").map(({ path }) => path);
  const folders = new Set(added.flatMap(listFoldersAbove));
  const built = new Set<string>();

  for (const folder of folders) {
    const makefiles = makefileNames.map((name) => `${folder}${name}`);
    for (const makefile of makefiles.filter((path) => base.has(path))) {
      for (const target of listMakeTargets((await textAtBase(makefile)) ?? "")) {
        built.add(`${folder}${target}`);
      }
    }
  }

  return new Set(added.filter((path) => built.has(path)));
}

/** `a/b/c` is in `a/b/`, `a/` and the root, an empty text. */
const listFoldersAbove = (path: string): readonly string[] =>
  path.split("/").map((_name, depth, names) =>
    names
      .slice(0, depth)
      .map((name) => `${name}/`)
      .join(""),
  );
