// shadowing: finds new files that may shadow something outside the project: a standard module, a
// system header, a program. Whether a name resolves without the new file is decided by the language
// itself, in a folder without it. Pure.
//
// Invariants:
//   S1. In Python only a name at the top counts that is new in the project: `calc/mean.py` in a
//       package of the project shadows nothing, `statistics.py` may. A Perl module or a header may
//       shadow one from wherever it is. A program may only if the project puts its folder on the
//       PATH.
//   S2. Nothing here is refused: findings are reported to a person.

import type { StringSet } from "../../../kit/as-set.ts";
import type { Difference } from "../../../ports/workspace.ts";

/** A new file, and a command that exits with 0 if its name resolves without it. */
export type Shadow = { readonly path: string; readonly name: string; readonly command: string };

const shadowsMax = 6;

/** `scripts`: texts that may put folders on the PATH. */
export function findPossibleShadows(
  differences: readonly Difference[],
  base: StringSet,
  scripts: readonly string[] = [],
): readonly Shadow[] {
  const pathFolders = scripts.flatMap(findPathFolders);
  const isNameInBase = (name: string, ending: RegExp): boolean =>
    ["", "src/", "lib/"].some((top) =>
      [...base].some(
        (path) =>
          path.startsWith(`${top}${name}/`) ||
          (path.startsWith(`${top}${name}.`) && ending.test(path)),
      ),
    );

  const added = differences.filter(({ kind }) => kind === "added").map(({ path }) => path);
  const found = added.flatMap((path): readonly Shadow[] => {
    const module = /^(?:src\/|lib\/)?([A-Za-z_]\w*)(?:\.py|\/__init__\.py)$/.exec(path)?.[1];
    if (module !== undefined && !isNameInBase(module, /\.py$/)) {
      return [{ path, name: `the module ${module}`, command: pythonHasModule(module) }];
    } // S1

    const perlModule = /^(?:(?:src|lib|inc|local)\/)?((?:[A-Z]\w*\/)*[A-Z]\w*)\.pm$/
      .exec(path)?.[1]
      ?.replaceAll("/", "::");
    if (perlModule !== undefined) {
      return [
        {
          path,
          name: `the module ${perlModule}`,
          command: `cd / && perl -M${perlModule} -e 1 2>/dev/null`,
        },
      ];
    }

    const [, folder, program] = /^(?:(.*)\/)?([\w-]+)$/.exec(path) ?? [];
    if (
      folder !== undefined &&
      program !== undefined &&
      pathFolders.some((onPath) => `/${folder}`.endsWith(`/${onPath}`))
    ) {
      return [
        {
          path,
          name: `the program ${program}`,
          command: `cd / && command -v '${program}' >/dev/null`,
        },
      ];
    }

    const header = /(?:^|\/)([\w-]+\.(?:h|hh|hpp))$/.exec(path)?.[1];
    return header === undefined
      ? []
      : [{ path, name: `the header ${header}`, command: compilerHasHeader(header) }];
  });
  return found.slice(0, shadowsMax);
}

/**
 * `bin` of `export PATH := $(CURDIR)/bin:$(PATH)`: folders of the project before those of the
 * machine.
 */
const findPathFolders = (script: string): readonly string[] =>
  [...script.matchAll(/\bPATH\s*[:?+]?=\s*["']?([^\n"']{1,300})/g)].flatMap(([, value = ""]) => {
    const parts = value.split(":");
    const own = parts.slice(
      0,
      Math.max(
        0,
        parts.findIndex((part) => /^\$[({]?PATH\b/.test(part)),
      ),
    );
    return own.flatMap(
      (part) =>
        /^(?:(?:\$PWD|\$\{PWD\}|\$\(PWD\)|\$\(pwd\)|\$\(CURDIR\)|\.)\/)?([\w.-]+(?:\/[\w.-]+)*)\/?$/.exec(
          part,
        )?.[1] ?? [],
    );
  });

const pythonHasModule = (module: string): string =>
  `cd / && python3 -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("${module}") is None)'`;
const compilerHasHeader = (header: string): string =>
  `cd / && echo '#include <${header}>' | cc -E -xc++ - >/dev/null 2>&1 || echo '#include <${header}>' | cc -E - >/dev/null 2>&1`;

export const describeShadows = (shadows: readonly Pick<Shadow, "path" | "name">[]): string =>
  `new files take the place of something from outside the project (${shadows.map(({ path, name }) => `${path}: ${name}`).join(", ")}), so a person has to look at that`;
