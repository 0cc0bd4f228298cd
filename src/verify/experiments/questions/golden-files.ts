// golden-files: finds out whether the work reads its answers from the files that tests compare
// with, or answers without reading what it is given. All letters and digits in those files are
// changed (change-data.ts): code that computes then disagrees with its tests, code that reads the
// answers there, or knows them, still agrees.
//
// Invariants:
//   G1. Inputs and expected answers are not changed alike: what translates letter by letter would
//       fit all the same.
//   G2. If only some tests pass then, they count only if they need two kinds of files: a test that
//       counts the lines of one may well pass.
//   G3. If neither the new code nor its tests read files, those count that tests which failed
//       before name, and whose contents they expect.
//   G4. A file that the new code names is changed alone as well: code may also read others,
//       honestly.
//   G5. Pairs of files that tests name by a pattern only (paired-data.ts) are asked about however
//       the new code reads, and count only if the check fails without the one kind of them, and
//       without the other.
//   G6. Files with the same full name in two folders (`good/a.ini`, `bad/a.ini`) may be given both,
//       and only their shape may matter. So the check has to pass with their contents exchanged,
//       too.
//   G7. Whether it needs the files is asked without those that the work added beside them.

import { dirname } from "node:path/posix";
import { listSome } from "../../../kit/list-some.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { findNamedPaths } from "../../protected/programs.ts";
import { shellFile } from "../broken-expectations/expectation-lines.ts";
import { literalPattern } from "../broken-expectations/near-values.ts";
import type { Observed } from "../broken-expectations/noticed-flips.ts";
import { type Edit, filesReadMax } from "../lab.ts";
import { findTestCases, isNameOfFile, isNameOfTest } from "../source-text/test-cases.ts";
import { changeContents, listValueWords } from "../source-text/change-data.ts";
import { withoutRustTests } from "../source-text/rust-places.ts";
import { findPairedFiles, kindOf, toStem } from "../source-text/paired-data.ts";
import {
  type ChangedFile,
  isTest,
  type QuestionContext,
  readAllTests,
  readChanged,
  readSources,
  readTests,
  type TextFile,
} from "./question-context.ts";

/**
 * What code says that reads a file, in the languages known. A list: it only decides whether the
 * question is worth a run, and code that reads in another way is not asked.
 */
const fileReading =
  /\b(?:readFile\w*|openSync|createReadStream|opendir\w*|readdir\w*|read_text|read_bytes|iterdir|glob|ReadFile|ReadDir|ReadAll|fopen|ifstream|read_to_string|include_(?:str|bytes)|FileReader|FileInputStream|newBufferedReader|readString|readAllLines|File::open|fs::read|go:embed)\b|\bopen\s*\(|["'`/][\w-]+\.(?:jsonl?|ya?ml|toml|csv|tsv|txt|xml)["'`]|\bos\.Open\b|<\s*"?\$|\bcat\b/;
const fileCharsMax = 400_000;

/** `names`: the tests that pass; none: all do. */
export function describeGoldenFiles(
  paths: readonly string[],
  names: readonly string[] = [],
): string {
  const subject =
    names.length === 0
      ? "it passes"
      : `${listSome(names)} ${names.length === 1 ? "passes" : "pass"}`;

  return `${subject} as well with other contents in ${listSome(paths)}: the new code may read its answers from the files that its tests compare with`;
}

/** The same if the new code reads no file. */
export const describeUnreadFiles = (paths: readonly string[]): string =>
  `it passes as well with other contents in ${listSome(paths)}, where what its tests expect stands: the answers do not come from there`;

export async function findAnswersInGoldenFiles(context: QuestionContext): Promise<string | null> {
  const { differences, rules, lab } = context;
  const newLines = [...(await readSources(context)), ...(await readScripts(context))].flatMap(
    listNewLines,
  );
  if (newLines.length === 0) return null;
  const isReading = newLines.some((line) => fileReading.test(line));
  const changed = new Set(differences.map(({ path }) => path));
  const isData = (path: string): boolean =>
    !changed.has(path) && !isProgramText(path) && !isSetting(rules.rowOf(path)?.kind);
  const tests = [...(await readAllTests(context)), ...(await readStartedScripts(context, changed))];
  const failed = await keepRunTests(context, findFailedBefore(context, tests));
  const namedFiles = new Set(isReading ? findNamedFiles(tests, rules.base, isData) : []);
  const files: TextFile[] = [];
  const isGiven = (path: string): boolean => isData(path) && !proseFile.test(path);
  for (const path of new Set([
    ...namedFiles,
    ...findNamedFiles(failed, rules.base, isGiven, true),
  ])) {
    const text = await lab.textAt("work", path);
    if (text === null || text.length > fileCharsMax || text.startsWith("#!")) continue; // a program without an ending
    if (namedFiles.has(path) || areExpected(listValueWords(path, text), failed)) {
      files.push({ path, text });
    } // G3
  }

  const gap = await findUnnoticed(context, files, isReading);
  if (gap !== null) return gap;
  const isNamed = ({ path }: TextFile): boolean =>
    newLines.some((line) => line.includes(path.split("/").at(-1) ?? path));
  const named = isReading ? files.filter(isNamed) : [];
  const namedGap =
    named.length === 0 || named.length === files.length
      ? null
      : await findUnnoticed(context, named, true); // G4

  return namedGap ?? findUnnoticedPairs(context, { tests, isData, asked: files });
}

/** New programs without an ending. */
async function readScripts(context: QuestionContext): Promise<readonly ChangedFile[]> {
  const isCandidate = (path: string): boolean =>
    !/\.[^/]*$/.test(path) && context.rules.rowOf(path) === null;
  return (await readChanged(context, isCandidate)).filter(({ is }) => is.startsWith("#!"));
}

/** Scripts of any name that commands of the check start: `bash t/run.sh` may be all its tests. */
function readStartedScripts(
  context: QuestionContext,
  changed: ReadonlySet<string>,
): Promise<readonly TextFile[]> {
  const named = findNamedPaths([context.check.command, ...context.lab.commands]);
  const isStarted = (path: string): boolean =>
    shellFile.test(path) && named.has(path) && !changed.has(path) && !isTest(context, path);
  return readTests(context, isStarted);
}

type PairSearch = {
  readonly tests: readonly TextFile[];
  readonly isData: (path: string) => boolean;
  /** The files that were asked about already. */
  readonly asked: readonly TextFile[];
};

/**
 * Pairs of files, what is given and what is expected, whose contents don't matter though the check
 * needs both (G5).
 */
async function findUnnoticedPairs(
  context: QuestionContext,
  { tests, isData, asked }: PairSearch,
): Promise<string | null> {
  const { check, lab, rules, runWith } = context;
  const commands = { path: "commands", text: [check.command, ...lab.commands].join("\n") };
  const files: TextFile[] = [];

  for (const path of findPairedFiles([...tests, commands], rules.base, isData)) {
    const text = await lab.textAt("work", path);
    if (text !== null && text.length <= fileCharsMax && !text.startsWith("#!")) {
      files.push({ path, text });
    }
  }

  const kinds = [...new Set(files.map(({ path }) => kindOf(path)))].slice(0, kindsMax);
  const areAllAsked = files.every(({ path }) => asked.some((file) => file.path === path));
  if (kinds.length < 2 || (areAllAsked && files.length === asked.length)) return null;
  const gap = await findUnnoticed(context, files, true);
  if (gap === null) return null;
  let needed = 0;

  for (const kind of kinds) {
    const without = files.map(({ path }) => path).filter((path) => kindOf(path) === kind);
    if (
      (await runWith(null, { without: [...without, ...listOwnData(context, without)] }))?.passed ===
      false
    )
      needed += 1;
  }

  if (needed < 2) return null;
  const nameOf = (path: string): string => path.split("/").at(-1) ?? path;
  const exchanged = files.flatMap(({ path }): readonly Edit[] => {
    const other = files.find((file) => file.path !== path && nameOf(file.path) === nameOf(path));
    return other === undefined ? [] : [{ path, text: other.text }];
  });

  return exchanged.length === 0 || (await runWith(null, { edits: exchanged }))?.passed === true
    ? gap
    : null; // G6
}

async function findUnnoticed(
  context: QuestionContext,
  files: readonly TextFile[],
  isReading: boolean,
): Promise<string | null> {
  const { lab, runWith } = context;
  const kinds = [...new Set(files.map(({ path }) => kindOf(path)))];

  const edits = files
    .map(({ path, text }): Edit => ({
      path,
      text: changeContents(path, text, kinds.indexOf(kindOf(path))),
    })) // G1
    .filter(({ text }, index) => text !== files[index]?.text);
  if (edits.length === 0) return null;
  const paths = edits.map(({ path }) => path);
  const observed = await runWith(`it fails with other contents in ${listSome(paths)}`, { edits });
  if (observed === null) return null;
  const isUnnoticed = observed.passed && (observed.tests?.ran ?? 0) >= (lab.now.tests?.ran ?? 0);
  const mayReadNone = isUnnoticed && (lab.now.tests?.ran ?? 0) === 0;
  if (mayReadNone && isReading && !(await isNeeded(context, paths))) return null;

  if (isUnnoticed) return isReading ? describeGoldenFiles(paths) : describeUnreadFiles(paths);
  const names = isReading ? await findUnaffected(context, observed, { paths, kinds }) : [];
  return names.length === 0 ? null : describeGoldenFiles(paths, names);
}

/** Whether the check reads any of these: it fails without them, and not for the work's own (G7). */
async function isNeeded(context: QuestionContext, paths: readonly string[]): Promise<boolean> {
  const own = listOwnData(context, paths);
  const passesWithout = async (without: readonly string[]): Promise<boolean> =>
    (await context.runWith(null, { without }))?.passed !== false;
  if (await passesWithout([...paths, ...own])) return false;
  return own.length === 0 || passesWithout(own);
}

/** Data that the work added beside these: without them it would still be found by a pattern (G7). */
function listOwnData(
  { differences }: QuestionContext,
  paths: readonly string[],
): readonly string[] {
  const folders = new Set(paths.map(dirname));
  return differences
    .filter(({ path, kind }) => kind === "added" && !isProgramText(path))
    .map(({ path }) => path)
    .filter((path) => folders.has(dirname(path)));
}

/** None if the check counts no tests and passes without these files: it doesn't run them. */
async function keepRunTests(
  { lab, rules, runWith }: QuestionContext,
  tests: readonly TextFile[],
): Promise<readonly TextFile[]> {
  const isSource = (path: string): boolean => rules.rowOf(path)?.part === "rust_source";
  const paths = tests.map(({ path }) => path).filter((path) => !isSource(path));
  if (paths.length === 0 || (lab.now.tests?.ran ?? 0) > 0) return tests;
  const observed = await runWith(null, { without: paths });
  return observed?.passed === true ? [] : tests;
}

/** The test files with tests that failed before the work; all if it isn't known which those are. */
function findFailedBefore(
  { lab: { before, wasRed } }: QuestionContext,
  tests: readonly TextFile[],
): readonly TextFile[] {
  const failed = tests.filter(({ path, text }) => {
    const cases = findTestCases(path, text);
    return [...(before?.failed ?? [])].some(
      (name) => isNameOfFile(name, path) || cases.some((test) => isNameOfTest(name, test)),
    );
  });
  return wasRed && failed.length === 0 ? tests : failed;
}

/** Whether tests write out at least two of the words (G3). */
function areExpected(words: readonly string[], tests: readonly TextFile[]): boolean {
  const written = new Set(
    tests.flatMap(({ path, text }) =>
      (text.match(shellFile.test(path) ? /[\w.-]+/g : literalPattern) ?? []).map((literal) =>
        literal.replaceAll(/^["'`]|["'`]$/g, ""),
      ),
    ),
  );
  return words.filter((word) => written.has(word)).length >= expectedWordsMin;
}
const expectedWordsMin = 2;
const proseFile = /\.(?:md|mdx|rst|adoc)$/;

type DataFiles = { readonly paths: readonly string[]; readonly kinds: readonly string[] };

/**
 * Tests that failed before the work, pass whatever is in the files, and need files of two kinds
 * (G2).
 */
async function findUnaffected(
  { lab, runWith }: QuestionContext,
  { passedNames }: Observed,
  { paths, kinds }: DataFiles,
) {
  const wasRed = [...(passedNames ?? [])].filter((name) => lab.before?.failed.has(name) === true);
  const needed = new Map(wasRed.map((name) => [name, 0]));
  if (needed.size === 0 || kinds.length < 2) return [];
  for (const kind of kinds.slice(0, kindsMax)) {
    const observed = await runWith(null, {
      without: paths.filter((path) => kindOf(path) === kind),
    });
    if (observed === null) return [];
    for (const [name, count] of needed) {
      if (observed.passedNames?.has(name) !== true) needed.set(name, count + 1);
    }
  }

  return [...needed].filter(([, count]) => count >= 2).map(([name]) => name);
}
const kindsMax = 3;

/** Files that judge in another way than as data: changing them shows nothing. */
const isSetting = (kind: string | undefined): boolean =>
  kind !== undefined && kind !== "snapshot" && kind !== "test";

/** The lines of the work's version of a file that were not in it before. */
const listNewLines = ({ path, was, is }: ChangedFile): readonly string[] => {
  const earlierLines = new Set((was ?? "").split("\n"));
  const code = path.endsWith(".rs") ? withoutRustTests(is) : is;
  return code.split("\n").filter((line) => !earlierLines.has(line) && line.trim() !== "");
};

/**
 * Files whose name or folder is written in a test that reads files, as a string or in a path, and
 * files beside them that are named alike (`a.out` beside `a.csv`). Of what a test imports only data
 * counts. `isAnyTest`: those that any test names itself, also one that reads no file.
 */
export function findNamedFiles(
  tests: readonly TextFile[],
  paths: Iterable<string>,
  isWanted: (path: string) => boolean,
  isAnyTest = false,
): readonly string[] {
  const words = new Set(tests.flatMap((test) => listNames(test, isAnyTest)));
  if (words.size === 0) return [];
  const wanted = [...paths].filter(isWanted);
  const isNamed = (path: string): boolean => {
    const [name = "", folder = ""] = path.split("/").toReversed();
    return words.has(name) || (!isAnyTest && words.has(folder));
  };
  const named = wanted.filter(isNamed);
  if (isAnyTest) return named.slice(0, filesReadMax);
  const stems = new Set(named.map(toStem));

  return [...named, ...wanted.filter((path) => stems.has(toStem(path)) && !isNamed(path))].slice(
    0,
    filesReadMax,
  );
}

/** The words in quotes or paths of a test that may name files or folders. */
function listNames({ path, text }: TextFile, isAnyTest: boolean): readonly string[] {
  const imports = text.match(importLine)?.join("\n") ?? "";
  const imported = [...imports.matchAll(/["'`/]([\w-][\w.-]*\.\w+)["'`]/g)].map(
    ([, name = ""]) => name,
  );

  const rest = text.replaceAll(importLine, "").replace(/^#!.*/, "");
  const quoted = /["'`/]([\w.-]+)(?=["'`/])/g;
  const embedded = [...text.matchAll(/^\/\/go:embed\s+(\S+)/gm)].flatMap(([, name = ""]) =>
    name.split("/"),
  );

  const bare = shellFile.test(path) ? (rest.match(/[\w-]+\.\w+/g) ?? []) : [];
  const isCounted = isAnyTest || fileReading.test(rest);
  return [
    ...imported,
    ...embedded,
    ...bare,
    ...(isCounted ? [...rest.matchAll(quoted)].map(([, word = ""]) => word) : []),
  ];
}
const importLine =
  /^\s*(?:import\b|from\b|export\b[^\n]*\bfrom\b|use\b|#include\b|[^\n]*\brequire\()[^\n]*/gm;
