// bugs-shown: proof that runs the regression tests of confirmed bugs on the unchanged code: each
// must fail there.
//
// Invariants:
//   B1. A bug is shown if the project's tests pass without its test patch and fail with it. Logs
//       written by agents do not count.
//   B2. The new test must be what fails: no fewer tests pass with the patch than without it, if the
//       tests can be counted.
//   B3. If there is a fix, the tests pass with both patches, and more of them than without; and
//       neither patch changes what the other is judged by (accused-code.ts).
//   B4. If the project has no tests that run, or they fail already, the proof is undecided and says
//       so.
//   B5. Without a fix, or with one that passes without what it changes in the accused code, the
//       test must pass once the accused code answers what it expects. Otherwise nobody has seen
//       that it fails because of the bug, and that is reported.
//   B6. A test is not red because of the bug if it loads a file that only its fix adds, or does not
//       run until a fix that only adds files.

import { createHash } from "node:crypto";
import * as v from "valibot";
import {
  Evidence,
  type Check,
  type CheckResult,
  type TestNames,
  type TestTally,
} from "../../../contracts/evidence.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Verifier } from "../../../ports/verifier.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { selectTestChecks } from "../../../verify/detect/select-test-checks.ts";
import { detectLanguage } from "../../../verify/protected/kinds.ts";
import {
  answerAsExpected,
  type AnsweringFile,
  findAccused,
  type PatchedFile,
  readPatch,
  whyUnfit,
} from "./accused-code.ts";
import { findBugIds } from "./count-documents.ts";
import { findReach, findSpelledInputs, hasNotRun } from "./fix-reach.ts";
import { openQualityTree, type QualityTree } from "./quality-tree.ts";

type Parts = {
  readonly verifier: Pick<Verifier, "check">;
  readonly workspace: Pick<Workspace, "pathsAt" | "textAt">;
  readonly readBlob: (hash: string) => Buffer | null;
};
type StepInput = FunctionInput<RunView, CursorView>;

/**
 * Each bug costs at least one run of the project's tests. Others are counted as untried, which the
 * terminal gate warns about.
 */
const bugsTriedMax = 20;
/**
 * Tells a patch that does not apply from tests that fail: test runners do not end with this code.
 */
const patchFailedExitCode = 87;
export const testPatchPath = (id: string): string => `quality/patches/${id}-regression-test.patch`;
export const fixPatchPath = (id: string): string => `quality/patches/${id}-fix.patch`;

/** The proof `bugs_shown`. */
export const createBugsShownProof = (parts: Parts) => ({
  version: 1,
  prove: async (input: StepInput): Promise<FunctionResult> => {
    const tree = await openQualityTree(parts.workspace, input.commit);
    const bugIds = [...new Set(findBugIds(await tree.text("quality/BUGS.md")))];
    const bugsWithTest = bugIds.filter((id) => tree.has(testPatchPath(id)));
    if (bugsWithTest.length === 0) return { ok: true, facts: {} };
    const [testCheck] = selectTestChecks(
      input.state.drafted.checks.filter(({ kind }) => kind === "project"),
    );
    if (testCheck === undefined) return undecided("no test command of this project is known"); // B4

    const runChecks = async (checks: readonly Check[]): Promise<readonly CheckResult[]> => {
      const { attempt, commit, cancel, onLiveEvent } = input;
      const results = await parts.verifier.check({ attempt, checks, commit, cancel, onLiveEvent });
      return results.filter(({ check }) => check.kind === "proof");
    };
    const [unpatched] = await runChecks([
      buildCheck("tests", "the tests, as they are", testCheck.command),
    ]);
    if (unpatched?.status !== "passed") {
      return undecided(`the tests do not pass without any patch: ${testCheck.command}`);
    } // B4

    const trials: BugTrial[] = [];
    for (const id of bugsWithTest.slice(0, bugsTriedMax)) {
      trials.push(await tryBug(parts, input, { tree, id, testCheck, unpatched, runChecks }));
    }

    const unshown = trials.filter(({ whyUnshown }) => whyUnshown !== null);
    const unexplained = trials.filter(({ isExplained }) => !isExplained); // B5

    const facts = {
      bugs_tried: trials.length,
      bugs_shown: trials.length - unshown.length,
      bugs_untried: bugsWithTest.length - trials.length,
      bugs_unexplained: unexplained.map(({ id }) => id).join(", "),
      bugs_spelled: trials.flatMap(({ spelled }) => spelled ?? []).join(", "),
      patches: await hashPatches(tree, bugIds),
    };

    const results = trials.flatMap((trial) => trial.results);
    const detail = unshown.map(({ id, whyUnshown }) => `${id}: ${whyUnshown}`).join("; ");
    return {
      ok: unshown.length === 0,
      facts,
      checks: [unpatched, ...results],
      ...(detail === "" ? {} : { detail }),
    };
  },
});

type BugTrial = {
  readonly id: string;
  /** Null if the bug is shown. */
  readonly whyUnshown: string | null;
  /**
   * Whether the test was seen to pass without the bug. True as well if the bug is not shown, which
   * is worse and reported already.
   */
  readonly isExplained: boolean;
  /** The tested inputs that its fix writes out: `BUG-001 ([2, 4, 6])`. */
  readonly spelled?: readonly string[];
  readonly results: readonly CheckResult[];
};
type TrialInput = {
  readonly tree: QualityTree;
  readonly id: string;
  /** The project's own tests. */
  readonly testCheck: Check;
  /** Their result without any patch. */
  readonly unpatched: CheckResult;
  readonly runChecks: (checks: readonly Check[]) => Promise<readonly CheckResult[]>;
};

async function tryBug(parts: Parts, input: StepInput, trialInput: TrialInput): Promise<BugTrial> {
  const { tree, id, testCheck, unpatched, runChecks } = trialInput;
  const testFiles = readPatch((await tree.text(testPatchPath(id))) ?? "");
  const fix = await tree.text(fixPatchPath(id));
  const trials = buildTrials(tree, id, testCheck);
  const results = await runChecks(trials);
  if (results.length < trials.length) {
    return { id, whyUnshown: "not every trial of it could be run", isExplained: true, results };
  }

  const fixFiles = readPatch(fix ?? "");
  const whyUnshown = whyNotShown(id, results, unpatched.tests) ?? whyUnfit(testFiles, fixFiles); // B3
  const notShown = (why: string): BugTrial => ({ id, whyUnshown: why, isExplained: true, results });
  if (whyUnshown !== null) return notShown(whyUnshown);
  const accused = await readAccused(parts, input, { tree, id });
  const [namesBefore, namesWithTest, namesFixed] = [unpatched, ...results].map((result) =>
    readTestNames(result, parts.readBlob),
  );

  const answerTrial: AnswerTrial = {
    ...trialInput,
    accused,
    testFiles,
    newTests: namesWithTest?.failed ?? [],
  };

  if (fix === null) {
    return { id, whyUnshown, isExplained: await passesWithAnAnswer(parts, answerTrial), results };
  }

  const reach = findReach(testFiles, fixFiles, accused);
  const fixed = await readSources(parts, input, fixFiles);
  const spelled = findSpelledInputs(testFiles, fixFiles, [...accused, ...fixed]).map(
    (text) => `${id} (${text.slice(0, inputCharsMax)})`,
  );

  const shown = { id, whyUnshown: null, spelled, results };
  if (reach.isAccusedUnloadable) return { ...shown, isExplained: true };
  const [loadedPath] = reach.loaded;
  if (loadedPath !== undefined && accused.length > 0) {
    return notShown(
      `its regression test loads ${loadedPath}, which only its fix adds: ${failsByAnswer}`,
    );
  } // B6

  const isUnrun = reach.onlyAddsCode && hasNotRun(namesBefore, namesWithTest, namesFixed);
  if (accused.length === 0) {
    return { ...shown, isExplained: loadedPath === undefined && !reach.onlyAddsCode };
  }

  if (reach.reachedPaths.length > 0) {
    const [result] = reach.isMixed
      ? await runChecks([buildPartialFixTrial(id, reach.reachedPaths, testCheck)])
      : [];
    if (result?.status !== "passed") return { ...shown, isExplained: true };
  }

  const isAskable = accused.some(({ path }) => ["js", "py"].includes(detectLanguage(path) ?? ""));
  if (!isAskable && !reach.onlyAddsCode) return { ...shown, isExplained: true };
  const isExplained = await passesWithAnAnswer(parts, answerTrial);
  if (!isExplained && isUnrun) {
    return notShown(
      `its regression test does not run before its fix has added files: ${failsByAnswer}`,
    );
  } // B6

  return { ...shown, isExplained };
}

const failsByAnswer = "it has to run and fail by what the code that is there does";
const accusedFilesMax = 3;
const accusedBytesMax = 60_000;
const answerCharsMax = 40;
const inputCharsMax = 80;

/** The code that a bug blames, as it is. */
async function readAccused(
  parts: Parts,
  input: StepInput,
  { tree, id }: Pick<TrialInput, "tree" | "id">,
) {
  const documents = [
    bugSection(await tree.text("quality/BUGS.md"), id),
    (await tree.text(`quality/writeups/${id}.md`)) ?? "",
  ];
  return readSources(
    parts,
    input,
    findAccused(documents, await parts.workspace.pathsAt(input.commit)),
  );
}

/** The files with their texts; empty for one that is not there, or too large. */
const readSources = <File extends { readonly path: string }>(
  { workspace }: Parts,
  { commit }: StepInput,
  files: readonly File[],
) =>
  Promise.all(
    files.map(async (file) => ({
      ...file,
      text: (await workspace.textAt(commit, file.path, accusedBytesMax)) ?? "",
    })),
  );

type AnswerTrial = Pick<TrialInput, "id" | "testCheck" | "runChecks"> & {
  readonly accused: Awaited<ReturnType<typeof readAccused>>;
  readonly testFiles: readonly PatchedFile[];
  readonly newTests: readonly string[];
};

/** Whether the new tests pass with one of the answers that they expect of the accused code. B5 */
async function passesWithAnAnswer(
  { readBlob }: Parts,
  { id, testCheck, runChecks, accused, testFiles, newTests }: AnswerTrial,
) {
  for (const file of accused.slice(0, accusedFilesMax)) {
    for (const answeringFile of answerAsExpected(file, file.text, testFiles)) {
      const [result] = await runChecks([buildAnswerTrial(id, answeringFile, testCheck)]);
      if (result?.status === "passed") return true;
      // Other tests may fail with this answer; only the new ones count.
      const passedTests = new Set(readTestNames(result, readBlob)?.passed);
      if (newTests.length > 0 && newTests.every((name) => passedTests.has(name))) return true;
    }
  }

  return false;
}

/** The section of BUGS.md under the heading `### BUG-001…`; empty if there is none. */
const bugSection = (bugs: string | null, id: string): string =>
  (bugs ?? "")
    .split(/^(?=### )/m)
    .find((section) => new RegExp(`^### ${id}(?![\\w-])`).test(section)) ?? "";

/**
 * The names of the tests that passed and failed, from the recorded evidence; undefined if it is
 * gone.
 */
function readTestNames(
  result: CheckResult | undefined,
  readBlob: Parts["readBlob"],
): TestNames | undefined {
  const text = result === undefined ? undefined : readBlob(result.evidence)?.toString("utf8");
  const evidence = v.safeParse(v.pipe(v.string(), v.parseJson(), Evidence), text);
  return evidence.success ? evidence.output.names : undefined;
}

/** A hash of the patches of these bugs, to notice one that was changed after it was tried. */
export async function hashPatches(tree: QualityTree, bugs: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const path of bugs.toSorted().flatMap((id) => [testPatchPath(id), fixPatchPath(id)])) {
    hash.update(JSON.stringify([path, await tree.text(path)]));
  }

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

/**
 * A shell command that applies a patch, or ends with its own exit code: `{ … git apply -p1
 * 'quality/patches/BUG-001-fix.patch' || { …; exit 87; }; }`. The path needs no escaping: ids are
 * letters, digits and dashes. The ceiling keeps git from finding a repository around the checkout,
 * relative to which it would apply the patch.
 */
const applyCommand = (path: string, without: readonly string[] = []): string =>
  `{ GIT_CEILING_DIRECTORIES="$(dirname "$PWD")" git apply -p1 ${without.map((file) => `--exclude='${file}' `).join("")}'${path}' || { echo '${path} does not apply'; exit ${patchFailedExitCode}; }; }`;

/**
 * The regression test on the accused code with another answer. The changed file is passed in
 * base64, which needs no escaping either.
 */
function buildAnswerTrial(
  id: string,
  { answer, path, text }: AnsweringFile,
  { command }: Check,
): Check {
  const title = `${id}: its regression test, with ${path} answering ${answer.slice(0, answerCharsMax)}`;
  const writeFile = `printf %s '${Buffer.from(text).toString("base64")}' | base64 -d > '${path}'`;
  return buildCheck(
    `${id}:answer`,
    title,
    `${applyCommand(testPatchPath(id))} && ${writeFile} && { ${command}\n}`,
  );
}

/**
 * The regression test with its fix, but for what it changes in these files, whose paths are plain.
 */
function buildPartialFixTrial(
  id: string,
  reachedPaths: readonly string[],
  { command }: Check,
): Check {
  const [applyTest, applyRest] = [
    applyCommand(testPatchPath(id)),
    applyCommand(fixPatchPath(id), reachedPaths),
  ];

  const title = `${id}: its regression test, with its fix but for ${reachedPaths.join(", ")}`;
  return buildCheck(`${id}:elsewhere`, title, `${applyTest} && ${applyRest} && { ${command}\n}`);
}

/** One check with the test, and one with test and fix if there is a fix. */
function buildTrials(tree: QualityTree, id: string, { command }: Check): readonly Check[] {
  const [applyTest, applyFix] = [applyCommand(testPatchPath(id)), applyCommand(fixPatchPath(id))];
  const withTest = buildCheck(id, `${id}: its regression test`, `${applyTest} && { ${command}\n}`);

  const withFix = buildCheck(
    `${id}:fixed`,
    `${id}: its regression test, with the fix`,
    `${applyTest} && ${applyFix} && { ${command}\n}`,
  );
  return tree.has(fixPatchPath(id)) ? [withTest, withFix] : [withTest];
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

/** The text of a bug's red log; null if the output of the check is gone. */
export function buildTrialLog(
  result: CheckResult,
  readBlob: (hash: string) => Buffer | null,
): string | null {
  const evidence = v.safeParse(
    v.pipe(v.string(), v.parseJson(), Evidence),
    readBlob(result.evidence)?.toString("utf8"),
  );
  if (!evidence.success) return null;
  const { output_hash: hash, output_excerpt: excerpt, exit_code: code, at } = evidence.output;
  const output = (hash === null ? null : readBlob(hash)?.toString("utf8")) ?? excerpt;
  const patchPath = testPatchPath(result.check.id.slice("bug:".length));

  return [
    `Written by the runner, which applied ${patchPath} and ran the project's tests.`,
    `$ ${result.check.command}`,
    `exit ${code ?? "by a signal"}, ${at}`,
    "",
    output,
  ].join("\n");
}
