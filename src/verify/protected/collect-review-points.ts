// collect-review-points: reads changed and new files, and lists what a person should review in
// them.
// Invariants L1 and on: verify/protected/find-protected.ts.

import type { ReviewPoint } from "../../contracts/evidence.ts";
import type { GitSha } from "../../contracts/ids.ts";
import type { Difference } from "../../ports/workspace.ts";
import type { ProtectionRules } from "./judge.ts";
import { detectLanguage, isProgramText, isTestRow } from "./kinds.ts";
import { isToStay } from "./left-alone.ts";
import { maskText } from "./mask-text.ts";
import { type CommitRange, readChange, textBytesMax, type TreeReader } from "./read-change.ts";
import {
  findPageGlobal,
  findReviewPoints,
  hasWord,
  isProse,
  isSetIn,
  isSetInTests,
  maySetInTests,
} from "./review-points.ts";

export const reviewPointsMax = 200;
const filesReadMax = 60;
const toStayText = "was changed, and the goal says that it stays as it is";

export async function collectReviewPoints(
  workspace: TreeReader,
  { base, commit, goal }: CommitRange & { readonly goal: string },
  differences: readonly Difference[],
  rules: ProtectionRules,
): Promise<readonly ReviewPoint[]> {
  const reviewPoints: ReviewPoint[] = [];
  const isTest = ({ path }: Difference): boolean => isTestRow(rules.rowOf(path));

  for (const [index, difference] of differences.entries()) {
    if (reviewPoints.length >= reviewPointsMax) break;
    const change = await readChange(workspace, { base, commit }, difference, index); // L1
    const isAlone = differences.every(
      (other) => other === difference || isTest(other) || isProse(other.path),
    );

    if (isToStay(difference.path, goal)) {
      reviewPoints.push({ path: difference.path, what: toStayText, gap: true });
    }

    reviewPoints.push(
      ...findReviewPoints({ ...change, isTest: isTest(difference), isAlone, goal }),
    );
  }

  const points = await excuseTestedReads(
    workspace,
    base,
    reviewPoints.slice(0, reviewPointsMax),
    rules,
  );
  return excuseSetVariables(
    workspace,
    base,
    await excuseUsedGlobals(workspace, base, points, rules),
    rules,
  );
}

/**
 * If tests from before the work set what the code reads (an environment variable, the clock), the
 * point is shown but leaves no gap.
 */
async function excuseTestedReads(
  workspace: TreeReader,
  base: GitSha,
  reviewPoints: readonly ReviewPoint[],
  rules: ProtectionRules,
): Promise<readonly ReviewPoint[]> {
  if (!reviewPoints.some(maySetInTests)) return reviewPoints;
  const isTest = (path: string): boolean =>
    rules.rowOf(path)?.kind === "test" && isProgramText(path);
  const testTexts = await readOfBase(workspace, base, rules, isTest);

  return reviewPoints.map((point) =>
    maySetInTests(point) && isSetInTests(point, testTexts)
      ? { path: point.path, what: point.what }
      : point,
  );
}

/** If the project's code used a page's global before the work, its users have it too. */
async function excuseUsedGlobals(
  workspace: TreeReader,
  base: GitSha,
  reviewPoints: readonly ReviewPoint[],
  rules: ProtectionRules,
): Promise<readonly ReviewPoint[]> {
  const globalOf = (point: ReviewPoint): string | null =>
    point.gap === true ? findPageGlobal(point) : null;
  if (reviewPoints.every((point) => globalOf(point) === null)) return reviewPoints;
  const isSource = (path: string): boolean =>
    detectLanguage(path) === "js" && !isTestRow(rules.rowOf(path));
  const texts = await readOfBase(workspace, base, rules, isSource);
  const codes = texts.map((text) => maskText(text, "js"));

  return reviewPoints.map((point) => {
    const name = globalOf(point);
    const isUsed = name !== null && codes.some((code) => hasWord(code, name));
    return isUsed ? { path: point.path, what: point.what } : point;
  });
}

/** If the project's scripts or settings set a variable before the work, its users have it too. */
async function excuseSetVariables(
  workspace: TreeReader,
  base: GitSha,
  reviewPoints: readonly ReviewPoint[],
  rules: ProtectionRules,
): Promise<readonly ReviewPoint[]> {
  const isMeant = ({ gap, what }: ReviewPoint): boolean =>
    gap === true && what.startsWith("decides by `$");
  if (!reviewPoints.some(isMeant)) return reviewPoints;
  const isScript = (path: string): boolean =>
    /\.(?:sh|bash|ksh|zsh|mk|env)$|(?:^|\/)[^./]+$/.test(path) && !isTestRow(rules.rowOf(path));
  const texts = await readOfBase(workspace, base, rules, isScript);

  return reviewPoints.map((point) =>
    isMeant(point) && isSetIn(point, texts) ? { path: point.path, what: point.what } : point,
  );
}

async function readOfBase(
  workspace: TreeReader,
  base: GitSha,
  { base: paths }: ProtectionRules,
  isMeant: (path: string) => boolean,
): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const path of paths) {
    if (texts.length === filesReadMax) break; // L1
    if (isMeant(path)) {
      texts.push((await workspace.textAt(base, path, textBytesMax)) ?? "");
    }
  }

  return texts;
}
