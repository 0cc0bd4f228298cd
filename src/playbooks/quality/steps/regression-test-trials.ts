// regression-test-trials: the commands that apply the patches of a confirmed bug to the unchanged
// code and run the project's tests, and what their results say against it: without the fix the
// regression test must fail (`whyNotShown`).
// Invariants B1 and on: playbooks/quality/steps/bugs-shown.ts.

import { createHash } from "node:crypto";
import type { Check, CheckResult, TestTally } from "../../../contracts/evidence.ts";
import type { AnsweringFile } from "./accused-code.ts";
import type { QualityTree } from "./quality-tree.ts";

/**
 * Tells a patch that does not apply from tests that fail: test runners do not end with this code.
 */
const patchFailedExitCode = 87;
const answerCharsMax = 40;

export const testPatchPath = (id: string): string => `quality/patches/${id}-regression-test.patch`;
export const fixPatchPath = (id: string): string => `quality/patches/${id}-fix.patch`;

/** A hash of the patches of these bugs, to notice one that was changed after it was tried. */
export async function hashPatches(tree: QualityTree, bugs: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const path of bugs.toSorted().flatMap((id) => [testPatchPath(id), fixPatchPath(id)])) {
    hash.update(JSON.stringify([path, await tree.text(path)]));
  }

  return hash.digest("hex");
}

/** The trials of a bug: with its test, and with test and fix if there is a fix. */
export function buildTrials(tree: QualityTree, id: string, testCheck: Check): readonly Check[] {
  const withTest = buildCheck(
    id,
    `${id}: its regression test`,
    thenTest([applyCommand(testPatchPath(id))], testCheck),
  );
  if (!tree.has(fixPatchPath(id))) return [withTest];

  const withFix = buildCheck(
    `${id}:fixed`,
    `${id}: its regression test, with the fix`,
    thenTest([applyCommand(testPatchPath(id)), applyCommand(fixPatchPath(id))], testCheck),
  );
  return [withTest, withFix];
}

/** The regression test with its fix, but for what it changes in these files, whose paths are plain. */
export function buildPartialFixTrial(
  id: string,
  reachedPaths: readonly string[],
  testCheck: Check,
): Check {
  const applyTest = applyCommand(testPatchPath(id));
  const applyRestOfFix = applyCommand(fixPatchPath(id), reachedPaths);
  return buildCheck(
    `${id}:elsewhere`,
    `${id}: its regression test, with its fix but for ${reachedPaths.join(", ")}`,
    thenTest([applyTest, applyRestOfFix], testCheck),
  );
}

/**
 * The regression test on the accused code with another answer. The changed file is passed in
 * base64, which needs no escaping.
 */
export function buildAnswerTrial(
  id: string,
  { answer, path, text }: AnsweringFile,
  testCheck: Check,
): Check {
  const writeFile = `printf %s '${Buffer.from(text).toString("base64")}' | base64 -d > '${path}'`;
  return buildCheck(
    `${id}:answer`,
    `${id}: its regression test, with ${path} answering ${answer.slice(0, answerCharsMax)}`,
    thenTest([applyCommand(testPatchPath(id)), writeFile], testCheck),
  );
}

/** A check of the audit itself; its id is `bug:` and what it tries, such as `bug:BUG-001:fixed`. */
export const buildCheck = (id: string, title: string, command: string): Check => ({
  id: `bug:${id}`,
  kind: "proof",
  title,
  command,
  source: "the audit",
});

/** Runs the tests if all of these commands succeed. */
const thenTest = (commands: readonly string[], { command }: Check): string =>
  `${commands.join(" && ")} && { ${command}\n}`;

/**
 * A shell command that applies a patch, or ends with its own exit code: `{ … git apply -p1
 * 'quality/patches/BUG-001-fix.patch' || { …; exit 87; }; }`. The path needs no escaping: ids are
 * letters, digits and dashes. The ceiling keeps git from finding a repository around the checkout,
 * relative to which it would apply the patch.
 */
function applyCommand(path: string, excludedPaths: readonly string[] = []): string {
  const excludes = excludedPaths.map((excluded) => `--exclude='${excluded}' `).join("");
  const apply = `GIT_CEILING_DIRECTORIES="$(dirname "$PWD")" git apply -p1 ${excludes}'${path}'`;
  const fail = `{ echo '${path} does not apply'; exit ${patchFailedExitCode}; }`;
  return `{ ${apply} || ${fail}; }`;
}

/** Why a bug is not shown; null if it is. */
export function whyNotShown(
  id: string,
  results: readonly CheckResult[],
  testsBefore: TestTally | undefined,
): string | null {
  const resultOf = (name: string): CheckResult | undefined =>
    results.find(({ check }) => check.id === `bug:${name}`);
  const [withTest, withFix] = [resultOf(id), resultOf(`${id}:fixed`)];
  if (withTest === undefined || !["passed", "failed"].includes(withTest.status)) {
    return `its regression test could not be run (${withTest?.status ?? "not tried"})`;
  }

  if (withTest.exit_code === patchFailedExitCode) {
    return `${testPatchPath(id)} does not apply to the code`;
  }

  if (withTest.status === "passed") {
    return "the project's tests pass with its regression test, so it shows no bug";
  } // B1

  const [passedBefore, passedNow] = [countPassed(testsBefore), countPassed(withTest.tests)];
  if (passedBefore !== null && passedNow !== null && passedNow < passedBefore) {
    return `with its regression test ${passedNow} tests pass, and ${passedBefore} without it: it has to add a test that fails, and break no other`;
  } // B2

  if (withFix?.exit_code === patchFailedExitCode) {
    return `${fixPatchPath(id)} does not apply to the code with the test`;
  }

  if (withFix !== undefined && withFix.status !== "passed") {
    return "its regression test fails with its fix as well";
  } // B3

  const passedFixed = countPassed(withFix?.tests);
  if (passedBefore !== null && passedFixed !== null && passedFixed <= passedBefore) {
    return `with its fix ${passedFixed} tests pass, and ${passedBefore} without any patch: its regression test has to pass too`;
  } // B3

  return null;
}

/** Null if no test was counted. Skipped tests are not among those that ran. */
const countPassed = (tests: TestTally | undefined): number | null =>
  tests === undefined || tests.ran === 0 ? null : tests.ran - tests.failed;
