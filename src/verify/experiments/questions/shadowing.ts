// shadowing: finds new files that may shadow something outside the project: a standard module, a
// system header, a program. Whether a name resolves without the new file is decided by the language
// itself, in a folder without it. Pure, except for the question.
//
// Invariants:
//   S1. In Python only a name at the top counts that is new in the project: `calc/mean.py` in a
//       package of the project shadows nothing, `statistics.py` may. A Perl module, a header or a
//       program may shadow one from wherever it is.
//   S2. A program does so if the check runs the new one, and does without it, or goes on with the
//       machine's: what it asks for by its path is not found without it.
//   S3. Nothing here is refused: findings are reported to a person.

import type { StringSet } from "../../../kit/as-set.ts";
import type { Difference } from "../../../ports/workspace.ts";
import type { QuestionContext } from "./question-context.ts";

/** A new file, and a command that exits with 0 if its name resolves without it. */
export type Shadow = {
  readonly path: string;
  readonly name: string;
  readonly command: string;
  /** Of a program: whether the check runs it has still to be found out (S2). */
  readonly program?: string;
};

const shadowsMax = 6;

export function findPossibleShadows(
  differences: readonly Difference[],
  base: StringSet,
): readonly Shadow[] {
  return differences
    .filter(({ kind }) => kind === "added")
    .map(
      ({ path }) =>
        findPythonShadow(path, base) ??
        findPerlShadow(path) ??
        findProgramShadow(path) ??
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

function findProgramShadow(path: string): Shadow | null {
  const program = /^(?:.*\/)([\w-]+)$/.exec(path)?.[1];
  if (program === undefined) return null;

  const command = `cd / && command -v '${program}' >/dev/null`;
  return { path, name: `the program ${program}`, command, program };
}

function findHeaderShadow(path: string): Shadow | null {
  const header = /(?:^|\/)([\w-]+\.(?:h|hh|hpp))$/.exec(path)?.[1];
  if (header === undefined) return null;
  return { path, name: `the header ${header}`, command: compilerHasHeader(header) };
}

const pythonHasModule = (module: string): string =>
  `cd / && python3 -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("${module}") is None)'`;

const compilerHasHeader = (header: string): string =>
  `cd / && echo '#include <${header}>' | cc -E -xc++ - >/dev/null 2>&1 || echo '#include <${header}>' | cc -E - >/dev/null 2>&1`;

export function describeShadows(shadows: readonly Pick<Shadow, "path" | "name">[]): string {
  const list = shadows.map(({ path, name }) => `${path}: ${name}`).join(", ");
  return `new files take the place of something from outside the project (${list}), so a person has to look at that`;
}

export async function findShadows({
  differences,
  rules,
  runWith,
}: QuestionContext): Promise<string | null> {
  const shadows: Shadow[] = [];
  for (const shadow of findPossibleShadows(differences, rules.base)) {
    const { path, command, program } = shadow;
    const whether = `${path} takes the place of something from outside the project`;
    const resolves = await runWith(whether, { without: [path], command });
    if (resolves?.passed !== true) continue;
    if (program === undefined || (await isRunByName(runWith, shadow, program))) {
      shadows.push(shadow);
    }
  }

  return shadows.length === 0 ? null : describeShadows(shadows);
}

/** S2 */
async function isRunByName(
  runWith: QuestionContext["runWith"],
  { path, name }: Shadow,
  program: string,
): Promise<boolean> {
  const whether = `${path} takes the place of ${name}`;
  const failing = await runWith(whether, { edits: [{ path, text: failingProgram }] });
  if (failing?.passed !== false) return false;
  const alone = await runWith(whether, { without: [path] });
  return alone !== null && (alone.passed || !saysMissing(alone.readOutput?.() ?? "", program));
}
const failingProgram = "#!/bin/sh\nexit 97\n";

/** `scripts/test: No such file or directory`, `sh: 1: scripts/test: not found`. */
const saysMissing = (output: string, program: string): boolean =>
  output
    .split("\n")
    .some(
      (line) =>
        line.includes(program) &&
        /not found|no such file|can't open|cannot find|ENOENT/i.test(line),
    );
