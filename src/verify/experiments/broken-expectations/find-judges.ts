// find-judges: finds the files that may contain a check's expectations, by what its command names
// and starts.

import type { Check } from "../../../contracts/evidence.ts";
import { asSet } from "../../../kit/as-set.ts";
import { findProtectionRow, isProgramText } from "../../protected/kinds.ts";
import { filterTests } from "../../protected/program-and-test-paths.ts";
import {
  findNamedPaths,
  isReadOnly,
  judgingPathPattern,
  splitChain,
  splitJudgingParts,
  splitPipelines,
} from "../../protected/programs.ts";
import { cFile } from "../../protected/source-language.ts";
import type { Lab } from "../lab.ts";
import { findStarted } from "../questions/non-code-files.ts";

/** Which of the work's files contain a check's expectations; if there is no check, all that may. */
export async function findJudges(
  check: Check | null,
  lab: Lab,
): Promise<(path: string) => boolean> {
  const work = await lab.pathsAt("work");
  const isHere = (path: string): boolean => isProgramText(path) && work.includes(path); // called for the few that a command names
  const parts = check === null ? [] : splitJudgingParts(check.command);
  const isAsked = check === null ? () => false : createAskedFilter(check, lab);
  const namedBy = (part: string): readonly string[] => [
    ...[...findNamedPaths([part])].filter((path) => isHere(path) && !isAsked(path)),
    ...findMainClasses(part, work),
  ];
  const named = new Set(parts.flatMap(namedBy));
  // A part that names no program (`npm test`) may be what ran the tests.
  const isAllNamed =
    (lab.now.tests?.ran ?? 0) === 0 || parts.every((part) => namedBy(part).length > 0);
  if (named.size > 0 && isAllNamed) return (path) => named.has(path);
  const base = asSet(await lab.pathsAt("base"));
  const started = findStarted(lab.commands, { has: (path) => base.has(path) && isHere(path) });
  const isStarted = (path: string): boolean =>
    started.paths.has(path) || started.folders.some((folder) => path.startsWith(`${folder}/`));
  const tests = filterTests(work);
  const built = await findBuiltPrograms(lab, work);

  return (path) =>
    isProgramText(path) &&
    (named.has(path) || tests.has(path) || isStarted(path) || built.has(path));
}

/**
 * The C sources, unchanged by the work, of a program that a command starts as it is, so that only
 * the program itself can tell a failure: `cc -o t t.c sum.c && ./t`. By what the compiler is
 * called with, or by its name.
 */
async function findBuiltPrograms(
  { commands, changedPaths, textAt }: Lab,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  const parts = commands.flatMap((command) => command.split("\n")).flatMap(splitChain);
  const toName = (word: string): string => word.replace(/^\.\//, "");
  const started = new Set(
    parts.flatMap((part) => /^[@-]*((?:\.\/)?[\w./-]+)$/.exec(part.trim())?.[1] ?? []).map(toName),
  );
  const linkedSources = parts
    .filter((part) => started.has(toName(/\s-o\s*(\S+)/.exec(part)?.[1] ?? "")))
    .flatMap((part) => [...findNamedPaths([part])]);
  const sources = paths.filter(
    (path) =>
      cFile.test(path) &&
      !changedPaths.includes(path) &&
      (linkedSources.includes(path) || started.has(path.replace(/\.\w+$/, ""))),
  );
  const texts = await Promise.all(
    sources.map(async (path) => ({ path, text: (await textAt("work", path)) ?? "" })),
  );

  return new Set(texts.flatMap(({ path, text }) => (/\bmain\s*\(/.test(text) ? path : [])));
}

/** The source of the class that a command starts: `java -ea -cp out shop.Main`. */
function findMainClasses(part: string, paths: readonly string[]): readonly string[] {
  const options = String.raw`(?:-(?:cp|p)\s+\S+\s+|--?(?:class|module)-?path\s+\S+\s+|-\S+\s+)*`;
  const start = new RegExp(String.raw`(?:^|\s)java\s+${options}([A-Za-z_$][\w$.]*)(?=\s|$)`);
  const name = start.exec(part)?.[1];
  const end = `/${name?.replaceAll(".", "/")}.java`;
  return name === undefined ? [] : paths.filter((path) => `/${path}`.endsWith(end));
}

/**
 * Programs under test whose output the command searches (`node bin/tool.js --help | grep -q json`):
 * `grep` judges, and what is written in the program is no expectation.
 */
function createAskedFilter({ command }: Check, lab: Lab): (path: string) => boolean {
  const judgedParts = splitPipelines(withoutRedirections(command))
    .map(({ text }) => splitChain(text))
    .filter((parts) => parts.length > 1 && isReadOnly(parts.at(-1) ?? ""))
    .flatMap((parts) => parts.slice(0, -1));
  const named = findNamedPaths(judgedParts);
  const isGivenMore = (path: string): boolean =>
    judgedParts.some((part) => /^\s+[^\s>]/.test(part.split(path)[1] ?? ""));
  const isTool = (path: string): boolean =>
    toolPath.test(path) || (lab.changedPaths.includes(path) && isGivenMore(path));
  const isUnderTest = (path: string): boolean => isTool(path) && !judgingPathPattern.test(path);

  return (path) => named.has(path) && isUnderTest(path) && findProtectionRow(path) === null;
}

/** `2>&1` starts no other command. */
const withoutRedirections = (command: string): string =>
  command.replaceAll(/\s\d?(?:>&\d?|&>)(?=\s|$)/g, "");

/** Where programs for users are, and what they are called; others may be tests of the project. */
const toolPath = /^(?:bin|cmd|exe)\/|(?:^|\/)(?:cli|main|__main__|index|app)\.\w+$/;

/** Whether a command runs nothing but programs under test, and searches what they print. */
export async function asksOnlyCode(check: Check, lab: Lab): Promise<boolean> {
  const paths = asSet(await lab.pathsAt("work"));
  const isAsked = createAskedFilter(check, lab);
  const parts = splitJudgingParts(withoutRedirections(check.command)).map((part) =>
    [...findNamedPaths([part])].filter((path) => paths.has(path) && isProgramText(path)),
  );

  return parts.length > 0 && parts.every((named) => named.length > 0 && named.every(isAsked));
}
