// bugs-shown: proof that runs the regression test of every confirmed bug on the unchanged code: the test must fail there.
//
// Invariants:
//   B1. A bug is shown if the project's tests pass without its test patch and fail with it. Logs written by agents do not count.
//   B2. The new test must be what fails: as many tests pass with the patch as without it, if the tests can be counted.
//   B3. If there is a fix, the tests pass with both patches.
//   B4. If the project has no tests that run, or they fail already, the proof is undecided and says so.

import { createHash } from "node:crypto";
import * as v from "valibot";
import { Evidence, type Check, type CheckResult, type TestTally } from "../../../contracts/evidence.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Verifier } from "../../../ports/verifier.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { testChecksAmong } from "../../../verify/detect/tests-among.ts";
import { findBugIds } from "./count-documents.ts";
import { openQualityTree, type QualityTree } from "./quality-tree.ts";

type Parts = {
  readonly verifier: Pick<Verifier, "check">;
  readonly workspace: Pick<Workspace, "pathsAt" | "textAt">;
};
type StepInput = FunctionInput<RunView, CursorView>;

const bugsTriedMax = 20;
const patchFailedExitCode = 87;
export const testPatch = (id: string): string => `quality/patches/${id}-regression-test.patch`;
export const fixPatch = (id: string): string => `quality/patches/${id}-fix.patch`;

export const bugsShown = (parts: Parts) => ({
  version: 1,
  prove: async (input: StepInput): Promise<FunctionResult> => {
    const tree = await openQualityTree(parts.workspace, input.commit);
    const bugIds = [...new Set(findBugIds(await tree.text("quality/BUGS.md")))];
    const bugsWithTest = bugIds.filter((id) => tree.has(testPatch(id)));
    if (bugsWithTest.length === 0) return { ok: true, facts: {} };
    const [test] = testChecksAmong(input.state.drafted.checks.filter(({ kind }) => kind === "project"));
    if (test === undefined) return undecided("no test command of this project is known"); // B4
    const run = async (checks: readonly Check[]): Promise<readonly CheckResult[]> => {
      const { attempt, commit, cancel, onLiveEvent } = input;
      const results = await parts.verifier.check({ attempt, checks, commit, cancel, onLiveEvent });
      return results.filter(({ check }) => check.kind === "proof");
    };
    const [unpatched] = await run([buildCheck("tests", "the tests, as they are", test.command)]);
    if (unpatched?.status !== "passed") return undecided(`the tests do not pass without any patch: ${test.command}`); // B4
    const results = await run(bugsWithTest.slice(0, bugsTriedMax).flatMap((id) => buildTrials(tree, id, test)));
    const trials = bugsWithTest.slice(0, bugsTriedMax).map((id) => ({ id, why: whyNotShown(id, results, unpatched.tests) }));
    const unshown = trials.filter(({ why }) => why !== null);
    const facts = {
      bugs_tried: trials.length,
      bugs_shown: trials.length - unshown.length,
      bugs_untried: bugsWithTest.length - trials.length,
      patches: await hashPatches(tree, bugIds),
    };
    const detail = unshown.map(({ id, why }) => `${id}: ${why}`).join("; ");
    return { ok: unshown.length === 0, facts, checks: [unpatched, ...results], ...(detail === "" ? {} : { detail }) };
  },
});

/** A hash of the patches of these bugs, to notice one that was changed after it was tried. */
export async function hashPatches(tree: QualityTree, bugs: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const path of bugs.toSorted().flatMap((id) => [testPatch(id), fixPatch(id)]))
    hash.update(JSON.stringify([path, await tree.text(path)]));
  return hash.digest("hex");
}

const undecided = (why: string): FunctionResult => ({ ok: true, facts: { bugs_undecided: why } });

const buildCheck = (id: string, title: string, command: string): Check => ({
  id: `bug:${id}`,
  kind: "proof",
  title,
  command,
  source: "the audit",
});

/** One check with the test, and one with test and fix if there is a fix. The ids need no quoting: letters, digits and dashes only. */
function buildTrials(tree: QualityTree, id: string, { command }: Check): readonly Check[] {
  const apply = (path: string): string =>
    `{ GIT_CEILING_DIRECTORIES="$(dirname "$PWD")" git apply -p1 '${path}' || { echo '${path} does not apply'; exit ${patchFailedExitCode}; }; }`;
  const withTest = buildCheck(id, `${id}: its regression test`, `${apply(testPatch(id))} && { ${command}\n}`);
  const withFix = buildCheck(
    `${id}:fixed`,
    `${id}: its regression test, with the fix`,
    `${apply(testPatch(id))} && ${apply(fixPatch(id))} && { ${command}\n}`,
  );
  return tree.has(fixPatch(id)) ? [withTest, withFix] : [withTest];
}

/** Why a bug is not shown; null if it is. */
export function whyNotShown(id: string, results: readonly CheckResult[], testsBefore: TestTally | undefined): string | null {
  const resultOf = (name: string): CheckResult | undefined => results.find(({ check }) => check.id === `bug:${name}`);
  const [withTest, withFix] = [resultOf(id), resultOf(`${id}:fixed`)];
  if (withTest === undefined || !["passed", "failed"].includes(withTest.status))
    return `its regression test could not be run (${withTest?.status ?? "not tried"})`;
  if (withTest.exit_code === patchFailedExitCode) return `${testPatch(id)} does not apply to the code`;
  if (withTest.status === "passed") return "the project's tests pass with its regression test, so it shows no bug";
  const [passedBefore, passedNow] = [countPassed(testsBefore), countPassed(withTest.tests)];
  if (passedBefore !== null && passedNow !== null && passedNow < passedBefore)
    return `with its regression test ${passedNow} tests pass, and ${passedBefore} without it: it has to add a test that fails, and break no other`; // B2
  if (withFix?.exit_code === patchFailedExitCode) return `${fixPatch(id)} does not apply to the code with the test`;
  if (withFix !== undefined && withFix.status !== "passed") return "its regression test fails with its fix as well"; // B3
  return null;
}

const countPassed = (tests: TestTally | undefined): number | null =>
  tests === undefined || tests.ran === 0 ? null : tests.ran - tests.failed - tests.skipped;

/** The text of a bug's red log; null if the output of the check is gone. */
export function buildTrialLog(result: CheckResult, readBlob: (hash: string) => Buffer | null): string | null {
  const evidence = v.safeParse(v.pipe(v.string(), v.parseJson(), Evidence), readBlob(result.evidence)?.toString("utf8"));
  if (!evidence.success) return null;
  const { output_hash: hash, output_excerpt: excerpt, exit_code: code, at } = evidence.output;
  const output = (hash === null ? null : readBlob(hash)?.toString("utf8")) ?? excerpt;
  return `Written by the runner, which applied ${testPatch(result.check.id.slice("bug:".length))} and ran the project's tests.\n$ ${result.check.command}\nexit ${code ?? "by a signal"}, ${at}\n\n${output}`;
}
