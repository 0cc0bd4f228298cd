// unrun-tests: finds functions with assertions that the work wrote into test files and that nobody
// runs: a runner of the project's own calls one test and not the next. Each gets an error in its
// first line; if the check still passes, it never runs them.
//
// Invariants:
//   N1. Only functions are asked about that no code names and no report tells of. Where runners find
//       tests by their names, those that begin like an older test are taken for run.
//   N2. A gap names only what an experiment has shown, of a check that runs other tests: with an
//       error in the first line of each of those it fails.

import { listSome } from "../../../kit/list-some.ts";
import { findProtectionRow, isTestRow } from "../../protected/kinds.ts";
import { detectSourceLanguage, type SourceLanguage } from "../../protected/source-language.ts";
import type { Edit } from "../lab.ts";
import { type Definition, findFunctions } from "../source-text/definitions.ts";
import {
  type ChangedFile,
  type QuestionContext,
  readChanged,
  readSources,
  readTests,
} from "../questions/question-context.ts";
import { findNewFunctions, trapOnly } from "../questions/trapped-functions.ts";

/** Words of a function that judges. A list; a function without any of them is a helper. */
const judges = /assert|expect|check|equal|fail|throw|raise|should|must|verif|require|die\b/i;
/** Languages whose test runners find tests by their names or marks. */
const findsTestsByName: ReadonlySet<SourceLanguage | null> = new Set(["java", "py", "go", "rust"]);
const alonesMax = 3;
const shownMax = 3;

type Suspect = { readonly file: ChangedFile; readonly definition: Definition };

export async function findUnrunTests(context: QuestionContext): Promise<string | null> {
  const suspects = await findSuspects(context);
  if (suspects.length === 0) return null;
  const unrun: Suspect[] = [];
  const groups = suspects.length === 1 ? [] : suspects.slice(0, alonesMax).map((one) => [one]);

  for (const group of [suspects, ...groups]) {
    if (!(await passesTrapped(context, group))) continue;
    unrun.push(...group);
    if (group === suspects) break;
  }

  if (unrun.length === 0 || !(await runsOtherTests(context, unrun))) return null; // N2
  const names = unrun.map(({ file, definition }) => `${definition.name} (${file.path})`);
  return `nobody runs ${listSome(names, shownMax)}: it passes as well with an error in the first line of each`;
}

/** N2 */
async function runsOtherTests(
  context: QuestionContext,
  unrun: readonly Suspect[],
): Promise<boolean> {
  const texts = await readTests(context);
  const others = texts
    .map(({ path, text }): ChangedFile => ({ path, was: null, is: text }))
    .flatMap((file) => findNewFunctions(file).map((definition) => ({ file, definition })))
    .filter(
      ({ file, definition: { name, text } }) =>
        judges.test(text.slice(text.indexOf(name) + name.length)) &&
        !unrun.some((one) => one.file.path === file.path && one.definition.name === name),
    );
  if (others.length === 0) return false;
  const edits = trapAll(others);

  return edits !== null && (await context.runWith(null, { edits }))?.passed === false;
}

/** N1 */
async function findSuspects(context: QuestionContext): Promise<readonly Suspect[]> {
  const { lab, rules } = context;
  const isTestFile = (path: string): boolean =>
    isTestRow(rules.rowOf(path)) || findProtectionRow(path)?.kind === "test";
  const files = await readChanged(context, isTestFile);
  if (files.length === 0) return [];

  const [tests, sources] = [await readTests(context), await readSources(context)];
  const texts = new Map([
    ...tests.map(({ path, text }) => [path, text] as const),
    ...[...files, ...sources].map(({ path, is }) => [path, is] as const),
  ]);
  const words = countWords([...texts.values()]);
  const reported = [...(lab.now.passedNames ?? []), ...lab.now.failed];
  const older = await Promise.all(
    tests.map(async ({ path }) => findFunctions(path, (await lab.textAt("base", path)) ?? "")),
  );
  const olderBeginnings = new Set(older.flat().map(({ name }) => findBeginning(name)));

  const isSuspect = ({ file, definition: { name, text } }: Suspect): boolean => {
    const mayBeFound =
      findsTestsByName.has(detectSourceLanguage(file.path)) &&
      olderBeginnings.has(findBeginning(name));
    return (
      words.get(name) === 1 &&
      judges.test(text.slice(text.indexOf(name) + name.length)) &&
      !mayBeFound &&
      !reported.some((title) => title.includes(name))
    );
  };

  return files
    .flatMap((file) => findNewFunctions(file).map((definition) => ({ file, definition })))
    .filter(isSuspect);
}

function countWords(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const word of text.match(/[A-Za-z_$][\w$]*/g) ?? []) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }

  return counts;
}

/** The first word of a name, in camel case or with underscores. */
const findBeginning = (name: string): string =>
  /^(?:[A-Z]?[a-z\d]+|[A-Z]+)/.exec(name)?.[0] ?? name;

async function passesTrapped(
  context: QuestionContext,
  suspects: readonly Suspect[],
): Promise<boolean> {
  const edits = trapAll(suspects);
  return (
    edits !== null && (await context.runWith("it runs all its tests", { edits }))?.passed === true
  );
}

/** Each of these with an error in its first line; null if a file can't be changed so. */
function trapAll(suspects: readonly Suspect[]): readonly Edit[] | null {
  const files = [...new Set(suspects.map(({ file }) => file))];
  const edits = files.map((file) =>
    trapOnly(
      file,
      suspects.filter((one) => one.file === file).map(({ definition }) => definition),
    ),
  );

  return edits.some((edit) => edit === null || edit.length === 0)
    ? null
    : edits.flatMap((edit) => edit ?? []);
}
