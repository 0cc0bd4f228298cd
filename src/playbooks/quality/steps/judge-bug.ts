// judge-bug: judges one confirmed bug from its trials (regression-test-trials.ts): whether its
// regression test shows it, and whether the test is red because of it.
// Invariants B1 and on: playbooks/quality/steps/bugs-shown.ts.

import * as v from "valibot";
import {
  Evidence,
  type Check,
  type CheckResult,
  type TestNames,
} from "../../../contracts/evidence.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput } from "../../../ports/functions.ts";
import type { Verifier } from "../../../ports/verifier.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { detectLanguage } from "../../../verify/protected/kinds.ts";
import {
  answerAsExpected,
  findAccused,
  type PatchedFile,
  readPatch,
  whyUnfit,
} from "./accused-code.ts";
import {
  buildAnswerTrial,
  buildPartialFixTrial,
  buildTrials,
  fixPatchPath,
  testPatchPath,
  whyNotShown,
} from "./regression-test-trials.ts";
import { findReach, findSpelledInputs, type FixReach, hasNotRun } from "./fix-reach.ts";
import type { QualityTree } from "./quality-tree.ts";

export type BugParts = {
  readonly verifier: Pick<Verifier, "check">;
  readonly workspace: Pick<Workspace, "pathsAt" | "textAt">;
  readonly readBlob: (hash: string) => Buffer | null;
};
export type BugStepInput = FunctionInput<RunView, CursorView>;

const failsByAnswer = "it has to run and fail by what the code that is there does";
const accusedFilesMax = 3;
const accusedBytesMax = 60_000;
const inputCharsMax = 80;

export type JudgedBug = {
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
export type TrialInput = {
  readonly tree: QualityTree;
  readonly id: string;
  /** The project's own tests. */
  readonly testCheck: Check;
  /** Their result without any patch. */
  readonly unpatched: CheckResult;
  readonly runChecks: (checks: readonly Check[]) => Promise<readonly CheckResult[]>;
};

/** What is known of a bug once its own trials have run. */
type BugUnderTrial = TrialInput & {
  readonly testFiles: readonly PatchedFile[];
  readonly fixFiles: readonly PatchedFile[];
  readonly accused: readonly SourceFile[];
  readonly names: {
    readonly before: TestNames | undefined;
    readonly withTest: TestNames | undefined;
    readonly withFix: TestNames | undefined;
  };
};
type SourceFile = Awaited<ReturnType<typeof readAccused>>[number];

export async function judgeBug(
  parts: BugParts,
  input: BugStepInput,
  trialInput: TrialInput,
): Promise<JudgedBug> {
  const { tree, id, testCheck, unpatched, runChecks } = trialInput;
  const testFiles = readPatch((await tree.text(testPatchPath(id))) ?? "");
  const fix = await tree.text(fixPatchPath(id));
  const fixFiles = readPatch(fix ?? "");

  const trials = buildTrials(tree, id, testCheck);
  const results = await runChecks(trials);
  const notShown = (why: string): JudgedBug => ({
    id,
    whyUnshown: why,
    isExplained: true,
    results,
  });
  if (results.length < trials.length) return notShown("not every trial of it could be run");

  const whyUnshown = whyNotShown(id, results, unpatched.tests) ?? whyUnfit(testFiles, fixFiles); // B3
  if (whyUnshown !== null) return notShown(whyUnshown);

  const accused = await readAccused(parts, input, { tree, id });
  const [before, withTest, withFix] = [unpatched, ...results].map((result) =>
    readTestNames(result, parts.readBlob),
  );
  const names = { before, withTest, withFix };
  const bug: BugUnderTrial = { ...trialInput, testFiles, fixFiles, accused, names };

  if (fix === null) {
    const isExplained = await passesWithAnAnswer(parts, bug);
    return { id, whyUnshown: null, isExplained, results };
  }

  const explanation = await explainByFix(parts, bug);
  if (typeof explanation === "string") return notShown(explanation);

  const fixedSources = await readSources(parts, input, fixFiles);
  const spelled = findSpelledInputs(testFiles, fixFiles, [...accused, ...fixedSources]).map(
    (text) => `${id} (${text.slice(0, inputCharsMax)})`,
  );
  return { id, whyUnshown: null, isExplained: explanation, spelled, results };
}

/**
 * Whether the test is red because of the bug, as far as its fix and the accused code tell; if it
 * certainly is not, why. B5, B6
 */
async function explainByFix(parts: BugParts, bug: BugUnderTrial): Promise<boolean | string> {
  const { testFiles, fixFiles, accused, names } = bug;
  const reach = findReach(testFiles, fixFiles, accused);
  if (reach.isAccusedUnloadable) return true;

  const [loadedPath] = reach.loaded;
  if (accused.length === 0) return loadedPath === undefined && !reach.onlyAddsCode;
  if (loadedPath !== undefined) {
    return `its regression test loads ${loadedPath}, which only its fix adds: ${failsByAnswer}`; // B6
  }

  const isMendedInAccused =
    reach.reachedPaths.length > 0 && !(await passesWithRestOfFix(bug, reach));
  if (isMendedInAccused) return true;

  const isAskable = accused.some(({ path }) => ["js", "py"].includes(detectLanguage(path) ?? ""));
  if (!isAskable && !reach.onlyAddsCode) return true;
  if (await passesWithAnAnswer(parts, bug)) return true;

  const hasOnlyRunFixed =
    reach.onlyAddsCode && hasNotRun(names.before, names.withTest, names.withFix);
  return hasOnlyRunFixed
    ? `its regression test does not run before its fix has added files: ${failsByAnswer}` // B6
    : false;
}

/** Whether the tests pass with what the fix changes elsewhere than in the accused code alone. */
async function passesWithRestOfFix(
  { id, testCheck, runChecks }: BugUnderTrial,
  { isMixed, reachedPaths }: FixReach,
): Promise<boolean> {
  if (!isMixed) return false;
  const [result] = await runChecks([buildPartialFixTrial(id, reachedPaths, testCheck)]);
  return result?.status === "passed";
}

/** Whether the new tests pass with one of the answers that they expect of the accused code. B5 */
async function passesWithAnAnswer(
  { readBlob }: BugParts,
  { id, testCheck, runChecks, accused, testFiles, names }: BugUnderTrial,
): Promise<boolean> {
  const newTests = names.withTest?.failed ?? [];
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

/** The code that a bug blames, as it is. */
async function readAccused(
  parts: BugParts,
  input: BugStepInput,
  { tree, id }: Pick<TrialInput, "tree" | "id">,
) {
  const section = bugSection(await tree.text("quality/BUGS.md"), id);
  const writeup = (await tree.text(`quality/writeups/${id}.md`)) ?? "";
  const projectPaths = await parts.workspace.pathsAt(input.commit);
  return readSources(parts, input, findAccused([section, writeup], projectPaths));
}

/** The files with their texts; empty for one that is not there, or too large. */
const readSources = <File extends { readonly path: string }>(
  { workspace }: BugParts,
  { commit }: BugStepInput,
  files: readonly File[],
) =>
  Promise.all(
    files.map(async (file) => ({
      ...file,
      text: (await workspace.textAt(commit, file.path, accusedBytesMax)) ?? "",
    })),
  );

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
  readBlob: BugParts["readBlob"],
): TestNames | undefined {
  const text = result === undefined ? undefined : readBlob(result.evidence)?.toString("utf8");
  const evidence = v.safeParse(v.pipe(v.string(), v.parseJson(), Evidence), text);
  return evidence.success ? evidence.output.names : undefined;
}
