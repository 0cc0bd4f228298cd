// non-code-files: finds files of a change besides code and tests that a check may depend on: tables
// of answers, check scripts, settings, stamps. Whether they matter is decided by restoring the
// base's version and running the check again. Pure, except for the question.
//
// Invariants:
//   B1. Nothing here is refused: a file other than code that a pass depends on is reported by name.
//   B2. New settings and binary files that serve new tests affect the others too: they are removed
//       together with every new test. Tests that were deleted, or moved there, are put back then.
//   B3. A file the command itself names (`test -f LICENSE`, `sh new.sh`) is the work, not its
//       judge; so is a module whose examples it runs (`python3 -m doctest calc.py`): the examples
//       judge, and the base's are run too (examples.ts). So is a data file that the goal names,
//       unless it judges or a test reads it, and a program that makes the data which other checks
//       ask for (made-data.ts).
//   B4. A module that a program inside the command imports (`python3 -c 'from pkg.mod import f;
//       …'`) is under test, unless its name says that it is a test.
//   B5. A new module that shadows one of the base (`x/index.js` and `x.js`, `x/__init__.py` and
//       `x.py`, `tests/x.h` and `src/x.h`) counts as a change of that one.
//   B6. Data of the base that the command gives to a program or compares with (`node cli.js | diff
//       - qa/wanted.json`) is the work only if the goal names it, or no code was changed.
//   B7. A new file that a rule of the base's makefile makes keeps make from making it, whatever it
//       holds.

import { dirname, normalize } from "node:path/posix";
import { listSome } from "../../../kit/list-some.ts";
import type { StringSet } from "../../../kit/as-set.ts";
import type { Difference } from "../../../ports/workspace.ts";
import type { ProtectionRow } from "../../protected/rows/protection-row.ts";
import { isProgramText } from "../../protected/kinds.ts";
import {
  splitInlineCode,
  codePathPattern,
  splitJudgingParts,
  judgingPathPattern,
  findNamedPaths,
  removeExistenceTests,
} from "../../protected/programs.ts";
import type { RemovedWork } from "../without-work.ts";
import { textBytesMax } from "../../protected/read-change.ts";
import { findBuiltFiles } from "../built-files.ts";
import {
  type QuestionContext,
  type RaisedQuestion,
  readTests,
  passesAsBefore,
} from "./question-context.ts";
import { findOwnData } from "./own-data.ts";

export type Surroundings = {
  readonly differences: readonly Difference[];
  /** Every path at the base. */
  readonly base: StringSet;
  readonly rowOf: (path: string) => ProtectionRow | null;
  readonly command: string;
  /** Whether the goal asks for it by name, and no test reads it. */
  readonly isRequested?: (path: string) => boolean;
  /** The command, and what the base's scripts and rules expand it to. */
  readonly used: readonly string[];
  /** Whether a file without an extension is a program. */
  readonly isScript: (path: string) => boolean;
  /** Whether it is a program of the work that makes data for other checks. */
  readonly isMaker?: (path: string) => boolean;
  /** Whether a rule of a makefile makes this file. */
  readonly isBuilt?: (path: string) => boolean;
  /**
   * Whether a file is binary: its content cannot be reviewed, and a language may run it in place of
   * its source.
   */
  readonly isBinary?: (path: string) => boolean;
};

const proseFile =
  /\.(?:md|mdx|rst|adoc)$|(?:^|\/)(?:LICEN[CS]E|COPYING|CHANGELOG|AUTHORS|NOTICE)[^/]*$|^docs?\//;

const runsExamples = /^[^|;&]*\bpython[\d.]*\s+-m\s+doctest\b[^|;&]*$/;

/** A command that reads a program's output asks for the program. */
const looksAtOutput = /\||\$\(|`|>|<\(/;

/** Commands that compare two files, one of which is what is expected. */
const comparison = /\b(?:diff|cmp|comm)\s[^|;&]*/g;

/**
 * Null if the change has nothing but code, tests, prose and files that are judged by their parts.
 */
export function findNonCodeFiles(surroundings: Surroundings): RemovedWork | null {
  const { differences, rowOf } = surroundings;
  const nonCode = differences.filter(createNonCodeFilter(surroundings));
  if (nonCode.length === 0) return null;

  const added = nonCode.filter(({ kind }) => kind === "added");
  const areTestsGone = added.some(({ path }) => rowOf(path)?.kind === "test");
  const restored = differences.filter(
    (difference) =>
      (difference.kind !== "added" && nonCode.includes(difference)) ||
      (areTestsGone && difference.kind === "deleted" && rowOf(difference.path)?.kind === "test"), // B2
  );

  return {
    paths: restored.map(({ path }) => path),
    without: added.map(({ path }) => path),
  };
}

const never = (): boolean => false;
/** Settings, wherever they lie: `lib/store/.stylerc`. */
const hiddenFile = /(?:^|\/)\.[^/]+$/;

function createNonCodeFilter(surroundings: Surroundings): (difference: Difference) => boolean {
  const { differences, base, rowOf, used, isScript } = surroundings;
  const { isBinary = never, isBuilt = never, isRequested = never } = surroundings;
  const { isMaker = never } = surroundings;
  const { isNamed, isGiven } = createCommandFilter(surroundings);

  const { paths: started, folders } = findStarted(used, base, (path) => !isNamed(path));
  const isOfJudges = (path: string): boolean =>
    started.has(path) || folders.some((folder) => path.startsWith(`${folder}/`));

  const isServing = (path: string): boolean => {
    const row = rowOf(path);
    return row?.comesWithTests === true || (row !== null && isBinary(path));
  };
  const hasServing = differences.some(({ path, kind }) => kind === "added" && isServing(path)); // B2
  const isNewTest = (path: string): boolean => rowOf(path)?.kind === "test" || isServing(path);

  const isCode = ({ path, kind }: Difference): boolean =>
    (codePathPattern.test(path) && !hiddenFile.test(path)) ||
    isProgramText(path) ||
    (kind !== "deleted" && isScript(path));

  const deletions = differences.filter(({ kind }) => kind === "deleted");
  const deleted = new Set(deletions.map(({ path }) => path));

  return (difference) => {
    const { path, kind } = difference;
    const isAdded = kind === "added";
    if (isAdded && !isNamed(path) && isShadowing(path, base, deleted)) return true; // B5
    if (isAdded && hasServing && isNewTest(path)) return true; // B2

    if (rowOf(path) !== null) return false; // it is judged by its parts
    if (isGiven(path)) return true; // B6
    if (proseFile.test(path) || isNamed(path)) return false;
    if (isAdded && isBuilt(path)) return true; // B7
    if (isOfJudges(path)) return !isMaker(path); // B3
    return !isRequested(path) && !isCode(difference);
  };
}

type CommandFilter = {
  /** Whether the command asks for the file: it is the work then, not its judge (B3). */
  readonly isNamed: (path: string) => boolean;
  /** Whether the command gives a program the file, or compares with it (B6). */
  readonly isGiven: (path: string) => boolean;
};

function createCommandFilter(surroundings: Surroundings): CommandFilter {
  const { differences, base, rowOf, command, isRequested = never } = surroundings;
  const isCodeChanged = differences.some(({ path }) => isProgramText(path) && rowOf(path) === null);

  const comparisons = command.match(comparison) ?? [];
  const given = findNamedPathsAndModules([...splitJudgingParts(command), ...comparisons]);
  const isGivenData = (path: string): boolean =>
    given.has(path) && base.has(path) && !isProgramText(path);
  const isGiven = (path: string): boolean =>
    isCodeChanged && isGivenData(path) && !isRequested(path); // B6

  const newFolders = findNewFolders(command, base);
  const named = findNamedPathsAndModules([command]);
  const asksForPrograms = looksAtOutput.test(command) || runsExamples.test(command);
  const isNamed = (path: string): boolean => {
    if (newFolders.some((folder) => path.startsWith(`${folder}/`))) return true;
    if (!named.has(path) || isGiven(path)) return false;
    return !base.has(path) || !isProgramText(path) || asksForPrograms;
  }; // B3

  return { isNamed, isGiven };
}

/** Different paths of the same module, as imports name it without an extension. */
const modules: readonly (readonly string[])[] = [
  [
    ".js",
    ".cjs",
    ".mjs",
    ".jsx",
    ".ts",
    ".cts",
    ".mts",
    ".tsx",
    "/index.js",
    "/index.cjs",
    "/index.mjs",
    "/index.ts",
  ],
  [".py", "/__init__.py", ".pyc", ".so"],
];

/** A new header beside files of the base, with the name of another of theirs (B5). */
function isHeaderShadowing(path: string, base: StringSet): boolean {
  const [, folder = "", name = ""] = /^(.*\/)?([^/]+\.(?:h|hh|hpp))$/.exec(path) ?? [];
  if (name === "") return false;

  const isOtherOfName = (candidate: string): boolean =>
    candidate !== path && (candidate === name || candidate.endsWith(`/${name}`));
  const isSourceBeside = (candidate: string): boolean =>
    /\.(?:c|cc|cpp|cxx)$/.test(candidate) &&
    candidate.startsWith(folder) &&
    !candidate.slice(folder.length).includes("/");

  const paths = [...base];
  return paths.some(isOtherOfName) && paths.some(isSourceBeside);
}

/**
 * `deleted`: what the work took away, so that a new file stands in its place and in front of
 * nothing.
 */
function isShadowing(path: string, base: StringSet, deleted: ReadonlySet<string>): boolean {
  if (isHeaderShadowing(path, base)) return true;
  if (path.endsWith(".d.ts")) return false;

  const isThere = (other: string): boolean => base.has(other) && !deleted.has(other);
  const hasOther = (ends: readonly string[], ownEnd: string): boolean => {
    const stem = path.slice(0, -ownEnd.length);
    return ends.some((end) => end !== ownEnd && isThere(stem + end));
  };
  return modules.some((ends) => ends.some((end) => path.endsWith(end) && hasOther(ends, end)));
}

/**
 * Folders that the command names and that the base does not have: a command that asks for one
 * (`test -d out`) asks for its contents.
 */
function findNewFolders(command: string, base: StringSet): readonly string[] {
  const words = command
    .split(/[\s"'`;|&()<>=]+/)
    .map((word) => word.replace(/^\.\//, "").replace(/\/+$/, ""));
  const named = new Set(words.filter((word) => /^[\w@.][\w@./-]*$/.test(word)));

  for (const path of base) {
    for (const word of named) {
      if (path[word.length] === "/" && path.startsWith(word)) named.delete(word);
    }
  }

  return [...named];
}

/** A command does not start what it compiles. */
const isCompiled = /\.(?:c|cc|cpp|cxx|h|hpp|rs|go|java|kt|swift|zig)$/;

/**
 * Files of the base that commands start and that aren't code, and the folders they are in, except
 * for the root.
 */
export function findStarted(
  commands: readonly string[],
  base: Pick<ReadonlySet<string>, "has">,
  isMeant: (path: string) => boolean = () => true,
): { readonly paths: ReadonlySet<string>; readonly folders: readonly string[] } {
  const parts = commands.map((command) => splitInlineCode(removeExistenceTests(command)));
  const imported = findNamedPathsAndModules(parts.flatMap(({ code }) => code));
  const loaded = [...imported].filter((path) => judgingPathPattern.test(path)); // B4

  const named = findNamedPathsAndModules(parts.map(({ rest }) => rest));
  const isStarted = (path: string): boolean =>
    !codePathPattern.test(path) && (!isCompiled.test(path) || judgingPathPattern.test(path));
  const paths = [...new Set([...named, ...loaded])].filter(
    (path) => base.has(path) && isStarted(path) && isMeant(path),
  );

  const judging = findNamedPathsAndModules(commands.flatMap(splitJudgingParts));
  const judges = new Set([...judging, ...loaded]);
  const programs = paths.filter(
    (path) => judges.has(path) && isProgramText(path) && path.includes("/"),
  );
  return { paths: new Set(paths), folders: [...new Set(programs.map((path) => dirname(path)))] };
}

/** Paths that commands name, also as modules (`-m checks.words`). */
function findNamedPathsAndModules(commands: readonly string[]): ReadonlySet<string> {
  const moduleNames = commands.flatMap(
    (command) => command.match(/\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\b/g) ?? [],
  );
  const modulePaths = moduleNames.map((name) => normalize(`${name.replaceAll(".", "/")}.py`));
  return new Set([...findNamedPaths(commands), ...modulePaths]);
}

const shownMax = 5;

export const describeNonCodeFiles = ({ paths, without }: RemovedWork): string =>
  `it passes only with what the work changed beside its code (${listSome([...paths, ...without].toSorted(), shownMax)}), so a person has to look at that`;

const binaryBytesMax = 64 << 20;

/** What the work changed besides code and tests, and the check may depend on. */
export async function askNonCodeFiles(context: QuestionContext): Promise<RaisedQuestion | null> {
  const { check, differences } = context;
  const { rowOf, named, base } = context.rules;
  const isRequested = await createRequestFilter(context);
  const scripts = await findScripts(context);
  const binaries = await findBinaries(context);
  const builtPaths = await findBuiltFiles(differences, base, (path) =>
    context.lab.textAt("base", path),
  );
  const nonCode = findNonCodeFiles({
    differences,
    base,
    rowOf,
    command: check.command,
    used: named.usedCommands,
    isScript: (path) => scripts.has(path),
    isBinary: (path) => binaries.has(path),
    isBuilt: (path) => builtPaths.has(path),
    isRequested,
    isMaker: (path) => path === context.lab.made?.program,
  });
  if (nonCode === null) return null;

  const command = dropTestNames(
    check.command,
    nonCode.without,
    (path) => rowOf(path)?.kind === "test",
  );
  if (command !== check.command && ![...base].some((path) => command.includes(path))) return null; // nothing is left to be asked
  return {
    whether: passesAsBefore([...nonCode.paths, ...nonCode.without]),
    change: { ...nonCode, command },
    gap: describeNonCodeFiles(nonCode),
  };
}

/** Whether a file is the work itself: the goal names it and no test reads it, or it is its data. */
async function createRequestFilter(context: QuestionContext): Promise<(path: string) => boolean> {
  const { differences, goal = "" } = context;
  const words = goal
    .split(/[\s"'`;,()<>]+/)
    .map((word) => word.replace(/^\.\//, "").replace(/[.:!?]+$/, ""));
  const requested = differences.map(({ path }) => path).filter((path) => words.includes(path));
  const tests = requested.length === 0 ? [] : await readTests(context);
  const ownData = await findOwnData(context);

  return (path) =>
    ownData.has(path) ||
    (requested.includes(path) &&
      !tests.some(({ text }) => text.includes(path.split("/").at(-1) ?? path)));
}

/** Changed files without an extension whose first line names their interpreter. */
async function findScripts({
  commit,
  workspace,
  differences,
}: QuestionContext): Promise<ReadonlySet<string>> {
  const scripts = new Set<string>();
  for (const { path, kind } of differences) {
    if (kind === "deleted" || /\.[^/]*$/.test(path)) continue;
    const text = await workspace.textAt(commit, path, textBytesMax);
    if (text?.startsWith("#!") === true) scripts.add(path);
  }

  return scripts;
}

/** New files that judge, or come with what judges, and are no text. */
async function findBinaries({
  commit,
  workspace,
  differences,
  rules,
}: QuestionContext): Promise<ReadonlySet<string>> {
  const binaries = new Set<string>();
  for (const { path, kind } of differences) {
    if (kind !== "added" || rules.rowOf(path) === null) continue;
    if ((await workspace.textAt(commit, path, binaryBytesMax)) === null) binaries.add(path);
  }

  return binaries;
}

/**
 * A command without the new tests that it names and that are taken away: `pytest tests/test_new.py
 * tests/test_old.py`.
 */
export const dropTestNames = (
  command: string,
  paths: readonly string[],
  isTest: (path: string) => boolean,
): string =>
  command
    .split(" ")
    .filter((word) => !(paths.includes(word) && isTest(word)))
    .join(" ");
