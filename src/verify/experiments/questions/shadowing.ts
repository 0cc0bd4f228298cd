// shadowing: finds new files that may shadow something outside the project: a standard module, a
// system header, a program. Whether a name resolves without the new file is decided by the language
// itself, in a folder without it. Pure, except for the question.
//
// Invariants:
//   S1. In Python only a name at the top counts that is new in the project: `calc/mean.py` in a
//       package of the project shadows nothing, `statistics.py` may. A Perl module or a header may
//       shadow one from wherever it is. A program may only if the project puts its folder on the
//       PATH.
//   S2. Nothing here is refused: findings are reported to a person.

import type { StringSet } from "../../../kit/as-set.ts";
import type { Difference } from "../../../ports/workspace.ts";
import { makefileNames } from "../../gates/named-commands.ts";
import type { QuestionContext } from "./question-context.ts";

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

  return differences
    .filter(({ kind }) => kind === "added")
    .map(
      ({ path }) =>
        findPythonShadow(path, base) ??
        findPerlShadow(path) ??
        findProgramShadow(path, pathFolders) ??
        findHeaderShadow(path),
    )
    .filter((shadow) => shadow !== null)
    .slice(0, shadowsMax);
}

function findPythonShadow(path: string, base: StringSet): Shadow | null {
  const module = /^(?:src\/|lib\/)?([A-Za-z_]\w*)(?:\.py|\/__init__\.py)$/.exec(path)?.[1];
  if (module === undefined || isPythonNameIn(base, module)) return null; // S1
  return { path, name: `the module ${module}`, command: pythonHasModule(module) };
}

/** Whether the project had a module or a folder of this name at the top. */
function isPythonNameIn(base: StringSet, name: string): boolean {
  return ["", "src/", "lib/"].some((top) => {
    const isOfName = (path: string): boolean =>
      path.startsWith(`${top}${name}/`) ||
      (path.startsWith(`${top}${name}.`) && path.endsWith(".py"));
    return [...base].some(isOfName);
  });
}

function findPerlShadow(path: string): Shadow | null {
  const modulePath = /^(?:(?:src|lib|inc|local)\/)?((?:[A-Z]\w*\/)*[A-Z]\w*)\.pm$/.exec(path)?.[1];
  if (modulePath === undefined) return null;

  const module = modulePath.replaceAll("/", "::");
  const command = `cd / && perl -M${module} -e 1 2>/dev/null`;
  return { path, name: `the module ${module}`, command };
}

function findProgramShadow(path: string, pathFolders: readonly string[]): Shadow | null {
  const [, folder, program] = /^(?:(.*)\/)?([\w-]+)$/.exec(path) ?? [];
  if (folder === undefined || program === undefined) return null;

  const isOnPath = pathFolders.some((pathFolder) => `/${folder}`.endsWith(`/${pathFolder}`));
  if (!isOnPath) return null;

  const command = `cd / && command -v '${program}' >/dev/null`;
  return { path, name: `the program ${program}`, command };
}

function findHeaderShadow(path: string): Shadow | null {
  const header = /(?:^|\/)([\w-]+\.(?:h|hh|hpp))$/.exec(path)?.[1];
  if (header === undefined) return null;
  return { path, name: `the header ${header}`, command: compilerHasHeader(header) };
}

/**
 * `bin` of `export PATH := $(CURDIR)/bin:$(PATH)`: folders of the project before those of the
 * machine.
 */
function findPathFolders(script: string): readonly string[] {
  return [...script.matchAll(pathSetting)].flatMap(([, value = ""]) => {
    const folders = value.split(":");
    const machineFrom = folders.findIndex((folder) => /^\$[({]?PATH\b/.test(folder));
    const ownFolders = folders.slice(0, Math.max(0, machineFrom));
    return ownFolders.flatMap((folder) => projectFolder.exec(folder)?.[1] ?? []);
  });
}

const pathSetting = /\bPATH\s*[:?+]?=\s*["']?([^\n"']{1,300})/g;

/** `$(CURDIR)/bin`, `./bin`, `bin`. */
const projectFolder =
  /^(?:(?:\$PWD|\$\{PWD\}|\$\(PWD\)|\$\(pwd\)|\$\(CURDIR\)|\.)\/)?([\w.-]+(?:\/[\w.-]+)*)\/?$/;

const pythonHasModule = (module: string): string =>
  `cd / && python3 -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("${module}") is None)'`;

const compilerHasHeader = (header: string): string =>
  `cd / && echo '#include <${header}>' | cc -E -xc++ - >/dev/null 2>&1 || echo '#include <${header}>' | cc -E - >/dev/null 2>&1`;

export function describeShadows(shadows: readonly Pick<Shadow, "path" | "name">[]): string {
  const list = shadows.map(({ path, name }) => `${path}: ${name}`).join(", ");
  return `new files take the place of something from outside the project (${list}), so a person has to look at that`;
}

const scriptsReadMax = 20;

export async function findShadows({
  differences,
  rules,
  runWith,
  lab,
  check,
}: QuestionContext): Promise<string | null> {
  const shadows: Shadow[] = [];
  const scriptPaths = [
    ...makefileNames,
    ...[...rules.base].filter((path) => path.endsWith(".sh")).slice(0, scriptsReadMax),
  ];
  const scripts = await Promise.all(scriptPaths.map((path) => lab.textAt("work", path)));
  for (const shadow of findPossibleShadows(differences, rules.base, [
    check.command,
    ...scripts.map((text) => text ?? ""),
  ])) {
    const whether = `${shadow.path} takes the place of something from outside the project`;
    if (
      (await runWith(whether, { without: [shadow.path], command: shadow.command }))?.passed === true
    ) {
      shadows.push(shadow);
    }
  }

  return shadows.length === 0 ? null : describeShadows(shadows);
}
