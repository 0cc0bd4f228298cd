// non-code-files: finds files of a change besides code and tests that a check may depend on: tables
// of answers, check scripts, settings, stamps. Whether they matter is decided by restoring the
// base's version and running the check again. Pure.
//
// Invariants:
//   B1. Nothing here is refused: a file other than code that a pass depends on is reported by name.
//   B2. New settings and binary files that serve new tests affect the others too: they are removed
//       together with every new test.
//   B3. A file the command itself names (`test -f LICENSE`, `sh new.sh`) is the work, not its
//       judge; so is a module whose examples it runs (`python3 -m doctest calc.py`): the examples
//       judge, and the base's are run too (examples.ts). So is a data file that the goal names,
//       unless it judges or a test reads it.
//   B4. A module that a program inside the command imports (`python3 -c 'from pkg.mod import f;
//       …'`) is under test, unless its name says that it is a test.
//   B5. A new module that shadows one of the base (`x/index.js` and `x.js`, `x/__init__.py` and
//       `x.py`, `tests/x.h` and `src/x.h`) counts as a change of that one.
//   B6. Data of the base that the command gives to a program or compares with (`node cli.js | diff
//       - qa/wanted.json`) is the work only if the goal names it, or no code was changed.
//   B7. A new file that a rule of the base's makefile makes keeps make from making it, whatever it
//       holds.

import { listSome } from "../../../kit/list-some.ts";
import type { StringSet } from "../../../kit/as-set.ts";
import { dirname, normalize } from "node:path/posix";
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
import type { RemovedWork } from "./without-work.ts";

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
export function findNonCodeFiles({
  differences,
  base,
  rowOf,
  command,
  used,
  isScript,
  ...more
}: Surroundings): RemovedWork | null {
  const named = findNamedPathsAndModules([command]);
  const { isBinary = () => false, isBuilt = () => false, isRequested = () => false } = more;
  const newFolders = findNewFolders(command, base);
  const isCodeChanged = differences.some(({ path }) => isProgramText(path) && rowOf(path) === null);

  const givenData = new Set(
    [
      ...findNamedPathsAndModules([
        ...splitJudgingParts(command),
        ...(command.match(comparison) ?? []),
      ]),
    ].filter((path) => base.has(path) && !isProgramText(path)),
  );
  const isGiven = (path: string): boolean =>
    isCodeChanged && givenData.has(path) && !isRequested(path); // B6

  const isNamed = (path: string): boolean =>
    newFolders.some((folder) => path.startsWith(`${folder}/`)) ||
    (named.has(path) &&
      !isGiven(path) &&
      (!base.has(path) ||
        !isProgramText(path) ||
        looksAtOutput.test(command) ||
        runsExamples.test(command))); // B3

  const { paths: started, folders } = findStarted(used, base, (path) => !isNamed(path));
  const isOfJudges = (path: string): boolean =>
    started.has(path) || folders.some((folder) => path.startsWith(`${folder}/`));
  const isServing = ({ path, kind }: Difference): boolean =>
    kind === "added" &&
    (rowOf(path)?.comesWithTests === true || (rowOf(path) !== null && isBinary(path)));
  const hasServing = differences.some(isServing); // B2
  const deleted = new Set(
    differences.filter(({ kind }) => kind === "deleted").map(({ path }) => path),
  );

  const nonCode = differences.filter((difference) => {
    const { path, kind } = difference;
    if (kind === "added" && !isNamed(path) && isShadowing(path, base, deleted)) return true; // B5
    if (hasServing && kind === "added" && (rowOf(path)?.kind === "test" || isServing(difference))) {
      return true;
    }

    if (rowOf(path) === null && isGiven(path)) return true;
    if (rowOf(path) !== null || proseFile.test(path) || isNamed(path)) return false;
    return (
      isOfJudges(path) ||
      (kind === "added" && isBuilt(path)) || // B7
      !(
        isRequested(path) ||
        codePathPattern.test(path) ||
        isProgramText(path) ||
        (kind !== "deleted" && isScript(path))
      )
    );
  });
  if (nonCode.length === 0) return null;
  return {
    paths: nonCode.filter(({ kind }) => kind !== "added").map(({ path }) => path),
    without: nonCode.filter(({ kind }) => kind === "added").map(({ path }) => path),
  };
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
  const paths = [...base];
  const isBeside = (candidate: string): boolean =>
    /\.(?:c|cc|cpp|cxx)$/.test(candidate) &&
    candidate.startsWith(folder) &&
    !candidate.slice(folder.length).includes("/");

  return (
    paths.some(
      (candidate) => candidate !== path && (candidate === name || candidate.endsWith(`/${name}`)),
    ) && paths.some(isBeside)
  );
}

/**
 * `deleted`: what the work took away, so that a new file stands in its place and in front of
 * nothing.
 */
function isShadowing(path: string, base: StringSet, deleted: ReadonlySet<string>): boolean {
  if (isHeaderShadowing(path, base)) return true;
  const isThere = (other: string): boolean => base.has(other) && !deleted.has(other);
  return modules.some((ends) =>
    ends
      .filter((end) => path.endsWith(end) && !path.endsWith(".d.ts"))
      .some((end) =>
        ends.some((otherEnd) => otherEnd !== end && isThere(path.slice(0, -end.length) + otherEnd)),
      ),
  );
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
  const loaded = [...findNamedPathsAndModules(parts.flatMap(({ code }) => code))].filter((path) =>
    judgingPathPattern.test(path),
  ); // B4

  const named = new Set([...findNamedPathsAndModules(parts.map(({ rest }) => rest)), ...loaded]);
  const isStarted = (path: string): boolean =>
    !isCompiled.test(path) || judgingPathPattern.test(path);
  const paths = [...named].filter(
    (path) => base.has(path) && !codePathPattern.test(path) && isStarted(path) && isMeant(path),
  );

  const startedNames = new Set([
    ...findNamedPathsAndModules(commands.flatMap(splitJudgingParts)),
    ...loaded,
  ]);
  const programs = paths.filter(
    (path) => startedNames.has(path) && isProgramText(path) && path.includes("/"),
  );

  return { paths: new Set(paths), folders: [...new Set(programs.map((path) => dirname(path)))] };
}

/** Paths that commands name, also as modules (`-m checks.words`). */
function findNamedPathsAndModules(commands: readonly string[]): ReadonlySet<string> {
  const named = findNamedPaths(commands);
  const modules = commands.flatMap(
    (command) => command.match(/\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\b/g) ?? [],
  );
  return new Set([
    ...named,
    ...modules.map((name) => normalize(`${name.replaceAll(".", "/")}.py`)),
  ]);
}

const shownMax = 5;

export const describeNonCodeFiles = ({ paths, without }: RemovedWork): string =>
  `it passes only with what the work changed beside its code (${listSome([...paths, ...without].toSorted(), shownMax)}), so a person has to look at that`;
