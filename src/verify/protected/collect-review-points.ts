// collect-review-points: reads changed and new files, and lists what a person should review in
// them.
// Invariants L1 and on: verify/protected/find-protected.ts.

import type { LookAt } from "../../contracts/evidence.ts";
import type { GitSha } from "../../contracts/ids.ts";
import type { Difference } from "../../ports/workspace.ts";
import type { ProtectionRules } from "./judge.ts";
import { isProgramText, isTestRow } from "./kinds.ts";
import { type CommitRange, readChange, textBytesMax, type TreeReader } from "./read-change.ts";
import { findReviewPoints, isProse, isSetInTests, maySetInTests } from "./review-points.ts";

export const reviewPointsMax = 200;
const testsReadMax = 60;

export async function collectReviewPoints(
  workspace: TreeReader,
  { base, commit, goal }: CommitRange & { readonly goal: string },
  differences: readonly Difference[],
  rules: ProtectionRules,
): Promise<readonly LookAt[]> {
  const reviewPoints: LookAt[] = [];
  const isTest = ({ path }: Difference): boolean => isTestRow(rules.rowOf(path));

  for (const [index, difference] of differences.entries()) {
    if (reviewPoints.length >= reviewPointsMax) break;
    const change = await readChange(workspace, { base, commit }, difference, index); // L1
    const isAlone = differences.every(
      (other) => other === difference || isTest(other) || isProse(other.path),
    );

    reviewPoints.push(
      ...findReviewPoints({ ...change, isTest: isTest(difference), isAlone, goal }),
    );
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
  rules: ProtectionRules,
): Promise<readonly LookAt[]> {
  if (!reviewPoints.some(maySetInTests)) return reviewPoints;
  const testTexts = await readTestsOfBase(workspace, base, rules);

  return reviewPoints.map((point) =>
    maySetInTests(point) && isSetInTests(point, testTexts)
      ? { path: point.path, what: point.what }
      : point,
  );
}

async function readTestsOfBase(
  workspace: TreeReader,
  base: GitSha,
  { rowOf, base: paths }: ProtectionRules,
): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const path of paths) {
    if (texts.length === testsReadMax) break; // L1
    if (rowOf(path)?.kind === "test" && isProgramText(path)) {
      texts.push((await workspace.textAt(base, path, textBytesMax)) ?? "");
    }
  }

  return texts;
}
