// ask-outside: finds out whether the work answers differently when no test runner runs it. Pure,
// except for those runs.

import { listSome } from "../../../kit/list-some.ts";
import { shellWord } from "../../../kit/shell-word.ts";
import { isProgramText, isTestRow } from "../../protected/kinds.ts";
import { createNonce } from "../broken-expectations/choose-flips.ts";
import type { Lab } from "../lab.ts";
import type { Observed } from "../broken-expectations/noticed-flips.ts";
import {
  describeNearInputs,
  type NearRecording,
  recordNearInputs,
} from "../other-inputs/ask-near.ts";
import { findAnswersInData } from "../other-inputs/answers-in-data.ts";
import { findDefinitions, removeSpace } from "../source-text/definitions.ts";
import {
  type QuestionContext,
  readChanged,
  readTests,
  type TextFile,
} from "../questions/question-context.ts";
import { buildPlainCalls } from "./calls-outside-tests.ts";
import { describeWorld, isAboutFacts } from "../other-world/find-world-dependence.ts";
import { type TestProgramInput, type PlainProgram } from "./plain-program.ts";
import {
  findManifestName,
  buildWithoutRunner,
  describeRunnerDependence,
} from "./tests-without-runner.ts";

const filesMax = 2;
const callsShownMax = 5;

type OutsideRun = PlainProgram & {
  /** The test file that it is made of. */
  readonly from: string;
  readonly gap: string;
  /**
   * If the command leaves the project's folder: the command that doesn't, and the gap if only the
   * folder matters.
   */
  readonly here?: { readonly command: string; readonly gap: string };
  /** Whether a failure counts that the program shows. */
  readonly confirmed: () => Promise<boolean>;
};

/**
 * What tests ask of the work with plain values, and the tests themselves, without their runner; and
 * inputs near those of the tests. What can share a checkout shares one run, which exits with 0 if
 * one of them shows something; only then is each run alone.
 */
export async function findOutsideGap(context: QuestionContext): Promise<string | null> {
  const { lab } = context;
  const runs = [...(await buildCallRuns(context)), ...(await buildTestRuns(context))];
  const near = await recordNearInputs(context, "work");
  const { sharedRuns, sharedNear } = chooseShared(runs, near);
  const isShared = sharedRuns.length + Number(sharedNear !== null) >= 2;
  const sharedResult = isShared ? await runShared(lab, sharedRuns, sharedNear) : undefined;
  const hasShownNothing = sharedResult !== undefined && sharedResult?.passed !== true;
  const gaps: string[] = sharedResult === null ? [lateGap] : [];

  for (const run of hasShownNothing ? runs.filter((one) => !sharedRuns.includes(one)) : runs) {
    const { edits, command, confirmed } = run;
    const observed = await lab.run("work", edits, [], wrapInTerminal(command));
    if (observed === null) gaps.push(lateGap); // code may terminate only under its runner
    else if (observed.passed && (await confirmed())) gaps.push(...(await attribute(context, run)));
  }

  const isNearAnswered = hasShownNothing && sharedNear !== null;
  if (near !== null && !isNearAnswered && (await knowsOnlyTests(context, near))) {
    gaps.push(describeNearInputs(near.functions));
  }

  const inData = near === null ? null : await findAnswersInData(context, near);
  if (inData !== null) gaps.push(inData);

  return gaps.length === 0 ? null : [...new Set(gaps)].join("; ");
}

/**
 * The gap of a run that shows something: it may be due to the folder alone, or to the time zone
 * alone, if nobody speaks of that.
 */
async function attribute(context: QuestionContext, run: OutsideRun): Promise<readonly string[]> {
  const { lab, goal = "" } = context;
  const { edits, from, gap } = run;
  const command = run.here?.command ?? run.command;

  if (run.here !== undefined) {
    const inProject = await lab.run("work", edits, [], wrapInTerminal(command));
    const isAboutFolder = inProject?.passed === false;
    if (isAboutFolder) return aboutFolders.test(goal) ? [] : [run.here.gap];
  }

  const inOwnZone = await lab.run("work", edits, [], wrapInTerminal(command, ""));
  if (inOwnZone === null) return [lateGap];
  if (inOwnZone.passed) return [gap];

  const isAskedFor = await isAboutFacts(context, ["time zone"], [from]);
  return isAskedFor ? [] : [describeWorld(["time zone"], [])];
}

/** A goal that may ask for something to be looked for where the program is started. */
const aboutFolders = /folder|director|\bcwd\b|config|settings|current/i;

type SharedRuns = {
  readonly sharedRuns: readonly OutsideRun[];
  readonly sharedNear: NearRecording | null;
};

/**
 * Scripts share a run, also with the recording of near inputs if they edit other files. A build of
 * Go or Rust shares with that alone.
 */
function chooseShared(runs: readonly OutsideRun[], near: NearRecording | null): SharedRuns {
  const scripts = runs.filter(({ command }) => !/\b(?:go|cargo) run\b/.test(command));
  const build = runs.find((run) => !scripts.includes(run));
  const sharedRuns =
    scripts.length === 0 && build !== undefined && near !== null ? [build] : scripts;
  const nearPaths = new Set(near?.edits.map(({ path }) => path));
  const canShareNear =
    sharedRuns.length > 0 &&
    sharedRuns.every(({ edits }) => edits.every(({ path }) => !nearPaths.has(path)));

  return { sharedRuns, sharedNear: canShareNear ? near : null };
}

function runShared(
  lab: Lab,
  runs: readonly OutsideRun[],
  near: NearRecording | null,
): Promise<Observed | null> {
  const edits = [...runs.flatMap((run) => run.edits), ...(near?.edits ?? [])];
  const anyOf = runs.map(({ command }) => `(${command})`).join(" || ");
  return lab.run("work", edits, [], wrapInTerminal(near === null ? anyOf : near.beside(anyOf)));
}

/** Whether the code knows only the inputs of its tests, and the code before the work knew more. */
async function knowsOnlyTests(context: QuestionContext, near: NearRecording): Promise<boolean> {
  const { lab, check } = context;
  const now = await lab.run("work", near.edits, [], near.alone(check.command));
  if (now?.passed !== true) return false;

  const nearBefore = await recordNearInputs(context, "base");
  if (nearBefore === null) return true;

  const before = await lab.run("base", nearBefore.edits, [], nearBefore.alone(check.command));
  return before?.passed !== true;
}

/**
 * Runs it as a person would: with a terminal, if `script` can open one, and without colours, which
 * are no answer; and in the last time zone of the day, as the check has passed in the first
 * (other-world/wrap-in-other-world.ts).
 */
const wrapInTerminal = (command: string, zone = " TZ=Etc/GMT+12"): string =>
  `export NO_COLOR=1${zone}; if script -qec : /dev/null >/dev/null 2>&1; then script -qec ${shellWord(command)} /dev/null; else ${command}; fi`;
const lateGap = "it could not be found out whether it answers the same without its test runner";

/** Programs that repeat the calls of tests. */
async function buildCallRuns(context: QuestionContext): Promise<readonly OutsideRun[]> {
  if ((context.lab.now.tests?.ran ?? 0) === 0) return [];
  const tests = await findTestsNaming(context, (path) => context.rules.rowOf(path) === null);

  const programs = tests.flatMap((test, index) => {
    const uniqueName = createNonce(`${context.lab.seed} calls ${index}`);
    const program = buildPlainCalls(test.path, test.text, uniqueName);
    return program === null ? [] : [{ ...program, from: test.path }];
  });

  return programs.slice(0, filesMax).map(({ path, text, command, commandHere, calls, from }) => {
    const other = `the code gives another answer to one of ${listSome(calls, callsShownMax)}`;
    const run: OutsideRun = {
      edits: [{ path, text }],
      command,
      from,
      gap: `asked outside its tests, once or many times, ${other}`,
      confirmed: async () => true,
    };
    if (commandHere === undefined) return run;

    const folderGap = `asked in another folder than the project's, ${other}`;
    return { ...run, here: { command: commandHere, gap: folderGap } };
  });
}

/** Programs that call the tests themselves. */
async function buildTestRuns(context: QuestionContext): Promise<readonly OutsideRun[]> {
  const { lab, rules } = context;
  const usesGoTest = lab.commands.some((text) => /\bgo test\b/.test(text)); // which counts its tests only if one fails
  if ((lab.now.tests?.ran ?? 0) === 0 && !usesGoTest) return [];

  const isCode = (path: string): boolean => !isTestRow(rules.rowOf(path));
  const tests = await findTestsNaming(context, isCode, isPackageTest);
  const runs: OutsideRun[] = [];

  for (const { path, text } of tests) {
    const manifestPath = findManifestName(path);
    const manifest = manifestPath === null ? null : await lab.textAt("work", manifestPath);

    const programInput = {
      path,
      text,
      uniqueName: createNonce(`${lab.seed} tests ${runs.length}`),
      manifest,
      skippedTests: [],
    };
    const program = buildWithoutRunner(programInput);
    if (program !== null) {
      runs.push({
        ...program,
        from: path,
        gap: describeRunnerDependence(path),
        confirmed: () => isCausedByWork(programInput, context),
      });
    }

    if (runs.length === filesMax) break;
  }

  return runs;
}

/**
 * False if the tests fail without their runner before the work too: then they need it. Those that
 * failed under it are not called.
 */
async function isCausedByWork(given: TestProgramInput, { lab }: QuestionContext): Promise<boolean> {
  if (lab.before === null) return true;
  const known = [...lab.before.failed].flatMap((name) => [name, ...(name.match(/\w+/g) ?? [])]);

  const program = buildWithoutRunner({
    ...given,
    text: (await lab.textAt("base", given.path)) ?? given.text,
    skippedTests: known,
  });
  if (program === null) return true;

  const observed = await lab.run("base", program.edits, [], wrapInTerminal(program.command));
  return observed?.passed !== true;
}

/** In Go and Rust tests name packages, not files. */
const isPackageTest = ({ path }: TextFile): boolean => findManifestName(path) !== null;

/**
 * The tests that name a function that the work wrote, or a changed file of code; those that name a
 * function first.
 */
async function findTestsNaming(
  context: QuestionContext,
  isCode: (path: string) => boolean,
  isIncluded: (test: TextFile) => boolean = () => false,
): Promise<readonly TextFile[]> {
  const changed = await readChanged(context, (path) => isProgramText(path) && isCode(path));
  const stems = changed.map(
    ({ path }) => /([^/]+?)(?:\/(?:index|__init__))?\.\w+$/.exec(path)?.[1] ?? path,
  );

  if (stems.length === 0) return [];

  const names = new Set(
    changed.flatMap(({ path, was, is }) => findChangedNames(path, was ?? "", is)),
  );
  const rank = (test: TextFile): number => {
    const words = test.text.match(/[\w$]+/g) ?? [];
    if (words.some((word) => names.has(word))) return 2;
    return isIncluded(test) || stems.some((stem) => test.text.includes(stem)) ? 1 : 0;
  };

  const tests = (await readTests(context))
    .map((test) => ({ test, value: rank(test) }))
    .filter(({ value }) => value > 0);
  return tests.toSorted((left, right) => right.value - left.value).map(({ test }) => test);
}

function findChangedNames(path: string, was: string, is: string): readonly string[] {
  const before = new Set(
    findDefinitions(path, was).map(({ name, text }) => `${name} ${removeSpace(text)}`),
  );

  return findDefinitions(path, is)
    .filter(({ name, text }) => !before.has(`${name} ${removeSpace(text)}`))
    .map(({ name }) => name);
}
