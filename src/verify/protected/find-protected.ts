// find-protected: finds the protected files that were changed between two commits, reading no more
// than needed.
//
// Invariants:
//   L1. Every read is bounded: texts by size and number. Beyond that only content hashes are
//       compared.

import picomatch from "picomatch";
import { asSet, type StringSet } from "../../kit/as-set.ts";
import type { LookAt, ProtectedChange } from "../../contracts/evidence.ts";
import type { GitSha } from "../../contracts/ids.ts";
import type { Verifier } from "../../ports/verifier.ts";
import type { Difference, Workspace } from "../../ports/workspace.ts";
import { findChangeFindings } from "./change-kind.ts";
import { extractDecidingParts } from "./deciding.ts";
import { findShadowableTargets, findIncludedFiles } from "./deciding-make.ts";
import { findImportedScripts } from "./imported-scripts.ts";
import { isProse, isSetInTests, findReviewPoints, maySetInTests } from "./review-points.ts";
import type { CommandSet } from "./command-set.ts";
import {
  isCandidate,
  type ProtectedJudgement,
  judgeProtected,
  type ChangedFile,
  type ProtectionRules,
} from "./judge.ts";
import { isProgramText, mayBeTest, type ProtectionRow } from "./kinds.ts";
import { hasOnlyMore } from "./only-more.ts";
import { findPrograms, findSettings } from "./programs.ts";
import { createRowFinder } from "./protect.ts";

export type TreeReader = Pick<Workspace, "differences" | "pathsAt" | "textAt">;
export type ProtectedParts = {
  readonly workspace: TreeReader;
  /** Globs of further protected files; with `!`, of files that are not protected. */
  readonly protect: readonly string[];
  /** Whether dependencies are restored before checks. */
  readonly restores: boolean;
  /** Whether experiments follow a pass. */
  readonly areTriedOut?: boolean;
};

export const textBytesMax = 512 * 1024;
const textsMax = 1_000;
const testsReadMax = 60;
export const changesMax = 1_000;
const reviewPointsMax = 200;

type ProtectedRequest = Parameters<Verifier["oracles"]>[0];

export async function findProtected(
  parts: ProtectedParts,
  { base, commit, scope, approved, checks = [], goal = "" }: ProtectedRequest,
): Promise<ProtectedJudgement & { readonly look?: readonly LookAt[] }> {
  const differences = await parts.workspace.differences(base, commit);
  if (differences.length === 0) {
    return judgeProtected({ changedFiles: [], moved: new Map(), rules: noRules, scope, approved });
  }

  const commands = checks.map(({ command }) => command);
  const rules = await loadProtectionRules(parts, base, commands);
  const { areTriedOut = false } = parts;
  const candidates = differences.filter((difference) => isCandidate(difference, rules));
  const changedFiles: ChangedFile[] = [];

  for (const [index, difference] of candidates.entries()) {
    changedFiles.push(
      await readChange({
        workspace: parts.workspace,
        base,
        commit,
        difference,
        mayRead: index < textsMax,
      }),
    );
  } // L1

  const moves = new Map(findMoves(differences));
  for (const { difference, before } of changedFiles) {
    const { path, kind } = difference;
    if (kind !== "deleted" || moves.has(path) || before === null || !isTestRow(rules.rowOf(path))) {
      continue;
    }

    const newPath = await findSameTest(parts.workspace, commit, before, differences);
    if (newPath !== null) moves.set(path, newPath);
  }

  const movedWhole = new Set<string>();
  for (const { difference, before } of changedFiles) {
    const newPath = moves.get(difference.path);
    const text =
      newPath === undefined || before === null
        ? null
        : await parts.workspace.textAt(commit, newPath, textBytesMax);
    if (text !== null && before !== null && isSameTest(difference.path, before, text)) {
      movedWhole.add(difference.path);
    }
  }

  const addedPaths = differences.filter(({ kind }) => kind === "added").map(({ path }) => path);
  const judgement = judgeProtected({
    changedFiles,
    moved: moves,
    rules: { ...rules, areTriedOut, movedWhole, addedPaths },
    scope,
    approved,
  });
  const setAside = judgement.changes.filter(
    ({ how, allowed }) => how === "added" && allowed === null,
  );

  return {
    ...judgement,
    changes: shortenChanges(judgement.changes),
    look: [
      ...setAside
        .slice(0, reviewPointsMax)
        .map(({ path }): LookAt => ({ path, what: setAsideText, gap: true })),
      ...(await collectReviewPoints(parts.workspace, { base, commit, goal }, differences, rules)),
    ],
  };
}

const setAsideText =
  "is new and decides how tests or checks run from now on; they were run without it";

/** What a person should review, in changed or new files. */
async function collectReviewPoints(
  workspace: TreeReader,
  { base, commit, goal }: { readonly base: GitSha; readonly commit: GitSha; readonly goal: string },
  differences: readonly Difference[],
  rules: ProtectionRules,
): Promise<readonly LookAt[]> {
  const reviewPoints: LookAt[] = [];
  for (const [index, difference] of differences.entries()) {
    if (reviewPoints.length >= reviewPointsMax) break;
    const change = await readChange({
      workspace,
      base,
      commit,
      difference,
      mayRead: index < textsMax,
    }); // L1

    const isTest = isTestRow(rules.rowOf(difference.path));
    const isAlone = differences.every(
      (other) => other === difference || isTestRow(rules.rowOf(other.path)) || isProse(other.path),
    );

    reviewPoints.push(...findReviewPoints({ ...change, isTest, isAlone, goal }));
  }

  return excuseTestedReads(workspace, base, reviewPoints.slice(0, reviewPointsMax), rules);
}

/**
 * If tests from before the work set what the code reads (an environment variable, the clock), the
 * point is shown but leaves no gap.
 */
async function excuseTestedReads(
  workspace: TreeReader,
  base: GitSha,
  reviewPoints: readonly LookAt[],
  { rowOf, base: paths }: ProtectionRules,
): Promise<readonly LookAt[]> {
  if (!reviewPoints.some(maySetInTests)) return reviewPoints;
  const texts: string[] = [];

  for (const path of paths) {
    if (texts.length === testsReadMax) break;
    if (rowOf(path)?.kind === "test" && isProgramText(path)) {
      texts.push((await workspace.textAt(base, path, textBytesMax)) ?? "");
    }
  }

  return reviewPoints.map((point) =>
    maySetInTests(point) && isSetInTests(point, texts)
      ? { path: point.path, what: point.what }
      : point,
  );
}

/**
 * Whether a path is for tests alone: code there knows that it is a test. A Rust source only may
 * contain tests.
 */
export const isTestRow = (row: ProtectionRow | null): boolean =>
  (row?.kind === "test" && row.part !== "rust_source") ||
  row?.kind === "snapshot" ||
  row?.kind === "test_config";

const noRules: ProtectionRules = {
  base: new Set(),
  rowOf: () => null,
  named: { commands: [], usedCommands: [], restores: false },
};

/** The protected files of a run, from its base and its commands. */
export async function loadProtectionRules(
  { workspace, protect, restores }: ProtectedParts,
  base: GitSha,
  commands: readonly string[],
): Promise<ProtectionRules> {
  const paths = asSet(await workspace.pathsAt(base));
  const commandSet: CommandSet = { commands, usedCommands: commands, restores };
  /** The commands, and what the base's scripts and rules expand them to. */
  const usedCommands = [...commands];
  const testCommands: string[] = [];
  const makefiles: string[] = [];
  const texts: string[] = [...commands];

  for (const [path, part] of [
    ["package.json", "package"],
    ["Makefile", "make"],
    ["makefile", "make"],
    ["GNUmakefile", "make"],
  ] as const) {
    const text = paths.has(path) ? await workspace.textAt(base, path, textBytesMax) : null;
    if (text === null) continue;
    const parts = Object.entries(extractDecidingParts(part, text, commandSet) ?? {});
    usedCommands.push(...parts.map(([, content]) => content));
    testCommands.push(
      ...parts.filter(([name]) => testingPart.test(name)).map(([, content]) => content),
    );

    texts.push(text);
    if (part === "make") makefiles.push(text);
  }

  const rows = createRowFinder(protect);
  const startedPrograms = new Set([
    ...findPrograms(usedCommands),
    ...findPrograms(testCommands, true),
  ]);

  const programs = new Set([
    ...startedPrograms,
    ...findSettings(usedCommands),
    ...(await findImportedScripts(startedPrograms, texts, paths, (path) =>
      workspace.textAt(base, path, textBytesMax),
    )),
  ]);

  const isShadowing = createShadowingFilter(makefiles, commandSet, paths);
  const included = findIncludedFiles(makefiles);
  const isIncluded = included.length === 0 ? () => false : picomatch([...included], { dot: true });

  const rowOf = (path: string): ProtectionRow | null => {
    const row = rows(path);
    if (isShadowing(path)) return shadowingRow;
    if (isIncluded(path) && (row === null || row.part === "included")) return includedRow; // new or not: the base's makefile names it

    return row ?? (programs.has(path) && paths.has(path) ? programRow : null);
  };

  // What the user protects by name counts as a test, whatever it is called.
  return {
    base: paths,
    rowOf,
    named: { ...commandSet, usedCommands },
    ...(protect.length === 0 ? { mayBeTest } : {}),
  };
}

// `(?!)` matches nothing: these rows are given to paths, never found by their pattern.
const programRow: ProtectionRow = { kind: "scripts", path: /(?!)/ };
const shadowingRow: ProtectionRow = {
  kind: "scripts",
  path: /(?!)/,
  rules: "named",
  because:
    "it bears the name of a rule that the makefile runs, and while it is there make finds nothing to do",
};

/**
 * Returns a predicate: whether a path would keep make from running a check, as a new file or folder
 * with the name of a target.
 */
function createShadowingFilter(
  makefiles: readonly string[],
  commandSet: CommandSet,
  paths: StringSet,
): (path: string) => boolean {
  if (!commandSet.commands.some((command) => /\bmake\b/.test(command))) return () => false;
  const folders = new Set([...paths].map((path) => path.split("/", 1)[0] ?? ""));

  const targets = new Set(
    makefiles
      .flatMap((text) => findShadowableTargets(text, commandSet))
      .filter((target) => !folders.has(target)),
  );
  return (path) => targets.has(path.split("/", 1)[0] ?? "");
}

const includedRow: ProtectionRow = {
  kind: "scripts",
  path: /(?!)/,
  part: "included",
  rules: "named",
};
/** The scripts and rules by which a project tests itself: `scripts.test`, `target check`. */
const testingPart =
  /^(?:scripts\.|target )(?:pre|post)?(?:tests?|unit|e2e|spec|lint|checks?|verify|validate|ci|cov|coverage)(?:[:._-].*)?$/;

type ChangeToRead = {
  readonly workspace: TreeReader;
  readonly base: GitSha;
  readonly commit: GitSha;
  readonly difference: Difference;
  readonly mayRead: boolean;
};

async function readChange({
  workspace,
  base,
  commit,
  difference,
  mayRead,
}: ChangeToRead): Promise<ChangedFile> {
  const { path, kind } = difference;
  const before =
    mayRead && kind !== "added" ? await workspace.textAt(base, path, textBytesMax) : null;
  const after =
    mayRead && kind !== "deleted" ? await workspace.textAt(commit, path, textBytesMax) : null;

  return { difference, before, after };
}

/**
 * Whether a file has all of a test file's text, in the same order, and nothing or more tests
 * besides; names of classes may differ.
 */
function isSameTest(path: string, before: string, after: string): boolean {
  const [was, is] = [withoutPlace(before), withoutPlace(after)];
  const findings = findChangeFindings(path, "test", was, is); // only new test cases are described as changed
  return (
    was === is ||
    (findings.length > 0 && findings.every(({ how }) => how === "changed") && hasOnlyMore(was, is))
  );
}

/**
 * A text without what a file that moves has to change: relative import paths, and the names of its
 * classes.
 */
const withoutPlace = (text: string): string =>
  text
    .replaceAll(/(?<=["'])(?:\.{1,2}\/)+/g, "./")
    .replaceAll(/^((?:public |final )*class )\w+/gm, "$1_");

const comparedMax = 20;

/** A new file with the text of a deleted test, and perhaps more; null if there is none. */
async function findSameTest(
  workspace: TreeReader,
  commit: GitSha,
  before: string,
  differences: readonly Difference[],
): Promise<string | null> {
  const added = differences
    .filter(({ kind, path }) => kind === "added" && isProgramText(path))
    .slice(0, comparedMax);

  for (const { path } of added) {
    const text = await workspace.textAt(commit, path, textBytesMax);
    if (text !== null && isSameTest(path, before, text)) return path;
  }

  return null;
}

/**
 * Where deleted files went: a new file of the same content, or of the same name in another folder.
 */
export function findMoves(differences: readonly Difference[]): ReadonlyMap<string, string> {
  const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
  const added = differences.filter(({ kind }) => kind === "added");
  const byContent = new Map(added.map(({ path, now }) => [now ?? "", path]));
  const byName = new Map(added.map(({ path }) => [baseName(path), path]));
  const moves = new Map<string, string>();

  for (const { path, kind, was } of differences) {
    const newPath =
      kind === "deleted" ? (byContent.get(was ?? "-") ?? byName.get(baseName(path))) : undefined; // "-" is no content
    if (newPath !== undefined) moves.set(path, newPath);
  }

  return moves;
}

/** A list that fits a journal: refused ones first; the last entry says how many are left out. */
function shortenChanges(changes: readonly ProtectedChange[]): readonly ProtectedChange[] {
  if (changes.length <= changesMax) return changes;
  const kept = changes
    .toSorted((left, right) => Number(left.allowed !== null) - Number(right.allowed !== null))
    .slice(0, changesMax);
  const last = kept.at(-1);
  const omitted = changes.length - kept.length;

  return last === undefined
    ? kept
    : [
        ...kept.slice(0, -1),
        { ...last, detail: `${last.detail} And ${omitted} more oracles besides.` },
      ];
}
