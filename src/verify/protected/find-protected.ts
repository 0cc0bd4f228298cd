// find-protected: finds the protected files that were changed between two commits, reading no more
// than needed.
//
// Invariants:
//   L1. Every read is bounded: texts by size and number. Beyond that only content hashes are
//       compared.

import type { Check, ReviewPoint, ProtectedChange } from "../../contracts/evidence.ts";
import type { Verifier } from "../../ports/verifier.ts";
import type { Difference } from "../../ports/workspace.ts";
import { isTestRow } from "./kinds.ts";
import { collectReviewPoints, reviewPointsMax } from "./collect-review-points.ts";
import {
  isCandidate,
  judgeProtected,
  keepsEverything,
  type ChangedFile,
  type ProtectionRules,
} from "./judge.ts";
import { loadProtectionRules, type ProtectionSources } from "./load-protection-rules.ts";
import { findNewCommands } from "../new-commands.ts";
import { findMovedWhole, findMovesOfTests } from "./moved-files.ts";
import { type CommitRange, readChange, textBytesMax, type TreeReader } from "./read-change.ts";

export const changesMax = 1_000;
const setAsideText = "is new and decides how tests or checks run from now on";
const changedText = "checks this work, was there before it, and was changed";
const askedText = "checks this work, and was changed as the goal asks";
const extendedText = "checks this work, was there before it, and was added to";
const moreText = "has rules or scripts that checks run, and they do more than before";
const variablesText = "is new and sets variables that checks are built with";

type ProtectedRequest = Parameters<Verifier["inspectProtected"]>[0];

export async function findProtected(
  parts: ProtectionSources,
  { base, commit, scope, approved, held = [], checks = [], goal = "" }: ProtectedRequest,
): ReturnType<Verifier["inspectProtected"]> {
  const { workspace, areTriedOut = false } = parts;
  const differences = await workspace.differences(base, commit);
  if (differences.length === 0) {
    return judgeProtected({
      changedFiles: [],
      moved: new Map(),
      rules: noRules,
      scope,
      approved,
      held,
    });
  }

  const commands = checks.map(({ command }) => command);
  const rules = await loadProtectionRules(parts, base, commands);
  const changedFiles = await readCandidates(workspace, { base, commit }, differences, rules);
  const { rowOf } = rules;
  const moved = await findMovesOfTests(workspace, commit, { differences, changedFiles, rowOf });
  const movedWhole = await findMovedWhole(workspace, commit, changedFiles, moved);

  const addedPaths = differences.filter(({ kind }) => kind === "added").map(({ path }) => path);
  const judgement = judgeProtected({
    changedFiles,
    moved,
    rules: { ...rules, areTriedOut, movedWhole, addedPaths },
    scope,
    approved,
    held,
    goal,
  });

  const reviewPoints = await collectReviewPoints(
    workspace,
    { base, commit, goal },
    differences,
    rules,
  );

  const newChecks: Check["id"][] = [];
  for (const { id, command } of judgement.changes.length === 0 ? [] : checks) {
    const readText = (side: "base" | "work", path: string): Promise<string | null> =>
      workspace.textAt(side === "base" ? base : commit, path, textBytesMax);
    if ((await findNewCommands(command, differences, readText)).length > 0) newChecks.push(id);
  }

  const judgingPaths = new Set(judgement.changes.map(({ path }) => path));
  const changesOtherFiles = differences.some(
    ({ path }) => !judgingPaths.has(path) && !isTestRow(rowOf(path)),
  );

  return {
    ...judgement,
    newChecks,
    changesOtherFiles,
    changes: shortenChanges(judgement.changes),
    reviewPoints: [
      ...listUnapproved(judgement.changes, changedFiles),
      ...listVariables(judgement.changes, rules),
      ...reviewPoints,
    ],
  };
}

const noRules: ProtectionRules = {
  base: new Set(),
  rowOf: () => null,
  named: { commands: [], usedCommands: [], restores: false },
};

/** Reads the changed files that may be protected. */
async function readCandidates(
  workspace: TreeReader,
  range: CommitRange,
  differences: readonly Difference[],
  rules: ProtectionRules,
): Promise<readonly ChangedFile[]> {
  const candidates = differences.filter((difference) => isCandidate(difference, rules));
  const changedFiles: ChangedFile[] = [];
  for (const [index, difference] of candidates.entries()) {
    changedFiles.push(await readChange(workspace, range, difference, index)); // L1
  }

  return changedFiles;
}

/**
 * What judges the work and was changed. If a file has all that it had, in the same order, what was
 * added to it has been tried out, and leaves no gap.
 */
const listUnapproved = (
  changes: readonly ProtectedChange[],
  changedFiles: readonly ChangedFile[],
): readonly ReviewPoint[] =>
  changes
    .filter(
      ({ how, allowed }) =>
        allowed === null || allowed === "goal" || (how === "extended" && allowed === "added"),
    )
    .map(({ path, how, allowed }): ReviewPoint => {
      if (how === "extended") return { path, what: moreText, gap: true };
      if (allowed === "goal") return { path, what: askedText, gap: true };
      const file = changedFiles.find(({ difference }) => difference.path === path);
      if (how === "added") return { path, what: setAsideText, gap: true };
      return file !== undefined && keepsEverything(file)
        ? { path, what: extendedText }
        : { path, what: changedText, gap: true };
    })
    .toSorted((one, other) => Number(other.gap ?? false) - Number(one.gap ?? false))
    .slice(0, reviewPointsMax);

/** New files that makefiles include, and that checks were run with. */
const listVariables = (
  changes: readonly ProtectedChange[],
  { rowOf }: ProtectionRules,
): readonly ReviewPoint[] =>
  changes
    .filter(({ path, allowed }) => allowed === "added" && rowOf(path)?.part === "included")
    .slice(0, reviewPointsMax)
    .map(({ path }) => ({ path, what: variablesText, gap: true }));

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
        { ...last, detail: `${last.detail} And ${omitted} more protected files besides.` },
      ];
}
