// bugs-shown: proof that runs the regression test of every confirmed bug on the unchanged code: the test must fail there.
//
// Invariants:
//   B1. A bug is shown if the project's tests pass without its test patch and fail with it. Logs written by agents do not count.
//   B2. The new test must be what fails: as many tests pass with the patch as without it, if the tests can be counted.
//   B3. If there is a fix, the tests pass with both patches, one more than without them; and neither patch changes what the other is judged by.
//   B4. If the project has no tests that run, or they fail already, the proof is undecided and says so.
//   B5. Without a fix, the test must pass once the accused code answers what it expects. Otherwise nobody has seen that it fails because of the
//       bug, and that is reported.

import { createHash } from "node:crypto";
import * as v from "valibot";
import { Evidence, type Check, type CheckResult, type TestNames, type TestTally } from "../../../contracts/evidence.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Verifier } from "../../../ports/verifier.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { testChecksAmong } from "../../../verify/detect/tests-among.ts";
import { answerAsExpected, type Answered, findAccused, readPatch, whyUnfit } from "./accused-code.ts";
import { findBugIds } from "./count-documents.ts";
import { openQualityTree, type QualityTree } from "./quality-tree.ts";

type Parts = {
  readonly verifier: Pick<Verifier, "check">;
  readonly workspace: Pick<Workspace, "pathsAt" | "textAt">;
  readonly readBlob: (hash: string) => Buffer | null;
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
    const tried: BugTrial[] = [];
    for (const id of bugsWithTest.slice(0, bugsTriedMax)) tried.push(await tryBug(parts, input, { tree, id, test, unpatched, run }));
    const unshown = tried.filter(({ why }) => why !== null);
    const facts = {
      bugs_tried: tried.length,
      bugs_shown: tried.length - unshown.length,
      bugs_untried: bugsWithTest.length - tried.length,
      bugs_unexplained: tried.flatMap(({ id, isExplained }) => (isExplained ? [] : [id])).join(", "), // B5
      patches: await hashPatches(tree, bugIds),
    };
    const results = tried.flatMap((trial) => trial.results);
    const detail = unshown.map(({ id, why }) => `${id}: ${why}`).join("; ");
    return { ok: unshown.length === 0, facts, checks: [unpatched, ...results], ...(detail === "" ? {} : { detail }) };
  },
});

type BugTrial = {
  readonly id: string;
  readonly why: string | null;
  /** Whether the test was seen to pass without the bug. */
  readonly isExplained: boolean;
  readonly results: readonly CheckResult[];
};
type TrialInput = {
  readonly tree: QualityTree;
  readonly id: string;
  readonly test: Check;
  readonly unpatched: CheckResult;
  readonly run: (checks: readonly Check[]) => Promise<readonly CheckResult[]>;
};

async function tryBug(parts: Parts, { commit }: StepInput, { tree, id, test, unpatched, run }: TrialInput): Promise<BugTrial> {
  const testFiles = readPatch((await tree.text(testPatch(id))) ?? "");
  const fix = await tree.text(fixPatch(id));
  const results = await run(buildTrials(tree, id, test));
  const why = whyNotShown(id, results, unpatched.tests) ?? whyUnfit(testFiles, readPatch(fix ?? "")); // B3
  if (why !== null || fix !== null) return { id, why, isExplained: true, results };
  const documents = [bugSection(await tree.text("quality/BUGS.md"), id), (await tree.text(`quality/writeups/${id}.md`)) ?? ""];
  const newTests = readNames(results[0], parts.readBlob)?.failed ?? [];
  for (const accused of findAccused(documents, await parts.workspace.pathsAt(commit)).slice(0, accusedMax)) {
    const text = await parts.workspace.textAt(commit, accused.path, accusedBytesMax);
    for (const answered of text === null ? [] : answerAsExpected(accused, text, testFiles)) {
      const [result] = await run([buildAnswerTrial(id, answered, test)]);
      const passed = new Set(result === undefined ? [] : readNames(result, parts.readBlob)?.passed);
      const isGreen = result?.status === "passed" || (newTests.length > 0 && newTests.every((name) => passed.has(name)));
      if (isGreen) return { id, why, isExplained: true, results };
    }
  }
  return { id, why, isExplained: false, results };
}

const accusedMax = 3;
const accusedBytesMax = 60_000;

const bugSection = (bugs: string | null, id: string): string =>
  (bugs ?? "").split(/^(?=### )/m).find((section) => new RegExp(`^### ${id}(?![\\w-])`).test(section)) ?? "";

function readNames(result: CheckResult | undefined, readBlob: Parts["readBlob"]): TestNames | undefined {
  const text = result === undefined ? undefined : readBlob(result.evidence)?.toString("utf8");
  const evidence = v.safeParse(v.pipe(v.string(), v.parseJson(), Evidence), text);
  return evidence.success ? evidence.output.names : undefined;
}

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

/** The ids need no quoting: letters, digits and dashes only. */
const apply = (path: string): string =>
  `{ GIT_CEILING_DIRECTORIES="$(dirname "$PWD")" git apply -p1 '${path}' || { echo '${path} does not apply'; exit ${patchFailedExitCode}; }; }`;

/** The regression test on the accused code with another answer. */
const buildAnswerTrial = (id: string, { answer, path, text }: Answered, { command }: Check): Check =>
  buildCheck(
    `${id}:answer`,
    `${id}: its regression test, with ${path} answering ${answer.slice(0, 40)}`,
    `${apply(testPatch(id))} && printf %s '${Buffer.from(text).toString("base64")}' | base64 -d > '${path}' && { ${command}\n}`,
  );

/** One check with the test, and one with test and fix if there is a fix. */
function buildTrials(tree: QualityTree, id: string, { command }: Check): readonly Check[] {
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
  const passedFixed = countPassed(withFix?.tests);
  if (passedBefore !== null && passedFixed !== null && passedFixed <= passedBefore)
    return `with its fix ${passedFixed} tests pass, and ${passedBefore} without any patch: its regression test has to pass too`; // B3
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
