// ask-outside: whether the work answers otherwise where no test runner is at work. Pure, except for those runs.

import { isTestRow } from "../../protected/find-protected.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { createNonce } from "../flips/choose-flips.ts";
import { describeNear, recordNear } from "../near/ask-near.ts";
import { findDefinitions, withoutSpace } from "../source/definitions.ts";
import { type QuestionContext, readChanged, readTests, type TextFile } from "../questions/question-context.ts";
import { buildPlainCalls } from "./calls-outside-tests.ts";
import { type TestProgramInput, type PlainProgram, quoted } from "./plain-program.ts";
import { manifestName, buildWithoutRunner, describeRunnerDependence } from "./tests-without-runner.ts";

const filesMax = 2;
const callsShownMax = 5;

type OutsideRun = PlainProgram & {
  readonly gap: string;
  /** Whether a failure counts that the program shows. */
  readonly confirmed: () => Promise<boolean>;
};

/**
 * What tests ask of the work with plain values, and the tests themselves, without their runner. Scripts share one run, which exits with 0 if
 * one of them shows something; only then is each asked alone.
 */
export async function findOutsideGap(context: QuestionContext): Promise<string | null> {
  const { lab, check } = context;
  const runs = [...(await callsOutside(context)), ...(await testsWithoutRunner(context))];
  const scripts = runs.filter(({ command }) => !/\b(?:go|cargo) run\b/.test(command));
  const [build] = runs.filter((one) => !scripts.includes(one));
  const near = await recordNear(context, "work");
  const nearPaths = new Set(near?.edits.map(({ path }) => path));
  const sharing = scripts.length === 0 && build !== undefined && near !== null ? [build] : scripts;
  const edits = sharing.flatMap((one) => one.edits);
  const all = sharing.map(({ command }) => `(${command})`).join(" || ");
  const host = sharing.length > 0 && edits.every(({ path }) => !nearPaths.has(path)) ? near : null;
  const shared =
    sharing.length + Number(host !== null) < 2
      ? undefined
      : await lab.run("work", [...edits, ...(host?.edits ?? [])], [], inTerminal(host === null ? all : host.beside(all)));
  const isAnswered = shared !== undefined && shared?.passed !== true;
  const gaps: string[] = shared === null ? [lateGap] : [];
  for (const { edits, command, gap, confirmed } of isAnswered ? runs.filter((one) => !sharing.includes(one)) : runs) {
    const observed = await lab.run("work", edits, [], inTerminal(command));
    if (observed === null) gaps.push(lateGap); // code that only comes to an end under its runner
    else if (observed.passed && (await confirmed())) gaps.push(gap);
  }
  const isNear =
    near !== null && !(isAnswered && host !== null) && (await lab.run("work", near.edits, [], near.alone(check.command)))?.passed;
  const before = isNear === true ? await recordNear(context, "base") : null; // what knew no other inputs before either is not the work's doing
  const wasSo = before !== null && (await lab.run("base", before.edits, [], before.alone(check.command)))?.passed === true;
  if (near !== null && isNear === true && !wasSo) gaps.push(describeNear(near.functions));
  return gaps.length === 0 ? null : [...new Set(gaps)].join("; ");
}

/** The way a person would run it: with a terminal, where `script` can open one. Colours are no answer. */
const inTerminal = (command: string): string =>
  `export NO_COLOR=1; if script -qec : /dev/null >/dev/null 2>&1; then script -qec ${quoted(command)} /dev/null; else ${command}; fi`;
const lateGap = "it took too long to find out whether it answers the same without its test runner";

async function callsOutside(context: QuestionContext): Promise<readonly OutsideRun[]> {
  if ((context.lab.now.tests?.ran ?? 0) === 0) return [];
  const tests = await testsNaming(context, (path) => context.rules.rowOf(path) === null);
  const programs = tests.flatMap(({ path, text }, at) => buildPlainCalls(path, text, createNonce(`${context.lab.seed} calls ${at}`)) ?? []);
  return programs.slice(0, filesMax).map(({ path, text, command, calls }) => {
    const more = calls.length > callsShownMax ? ` and ${calls.length - callsShownMax} more` : "";
    const gap = `asked outside its tests, once or many times, the code gives another answer to one of ${calls.slice(0, callsShownMax).join(", ")}${more}`;
    return { edits: [{ path, text }], command, gap, confirmed: async () => true };
  });
}

async function testsWithoutRunner(context: QuestionContext): Promise<readonly OutsideRun[]> {
  const { lab, rules } = context;
  const isOfGo = lab.commands.some((text) => /\bgo test\b/.test(text)); // which says nothing of its tests unless they fail
  if ((lab.now.tests?.ran ?? 0) === 0 && !isOfGo) return [];
  const runs: OutsideRun[] = [];
  for (const { path, text } of await testsNaming(context, (one) => !isTestRow(rules.rowOf(one)), isPackageTest)) {
    const manifestPath = manifestName(path);
    const manifest = manifestPath === null ? null : await lab.textAt("work", manifestPath);
    const given = { path, text, nonce: createNonce(`${lab.seed} tests ${runs.length}`), manifest, skippedTests: [] };
    const program = buildWithoutRunner(given);
    if (program !== null) runs.push({ ...program, gap: describeRunnerDependence(path), confirmed: () => isCausedByWork(given, context) });
    if (runs.length === filesMax) break;
  }
  return runs;
}

/** Tests that passed before the work under their runner, and fail without it, need their runner. */
async function isCausedByWork(given: TestProgramInput, { lab }: QuestionContext): Promise<boolean> {
  if (lab.before === null) return true;
  const known = [...lab.before.failed].flatMap((name) => [name, ...(name.match(/\w+/g) ?? [])]);
  const program = buildWithoutRunner({ ...given, text: (await lab.textAt("base", given.path)) ?? given.text, skippedTests: known });
  return program === null || (await lab.run("base", program.edits, [], inTerminal(program.command)))?.passed !== true;
}

/** In Go and Rust tests name packages, not files. */
const isPackageTest = ({ path }: TextFile): boolean => manifestName(path) !== null;

/** The tests that name a function that the work wrote, or a changed file of code; those that name a function first. */
async function testsNaming(
  context: QuestionContext,
  isCode: (path: string) => boolean,
  isIncluded: (test: TextFile) => boolean = () => false,
): Promise<readonly TextFile[]> {
  const changed = await readChanged(context, (path) => isProgramText(path) && isCode(path));
  const stems = changed.map(({ path }) => /([^/]+?)(?:\/(?:index|__init__))?\.\w+$/.exec(path)?.[1] ?? path);
  const names = new Set(changed.flatMap(({ path, was, is }) => findChangedNames(path, was ?? "", is)));
  if (stems.length === 0) return [];
  const rank = (test: TextFile): number =>
    (test.text.match(/[\w$]+/g) ?? []).some((word) => names.has(word))
      ? 2
      : Number(isIncluded(test) || stems.some((stem) => test.text.includes(stem)));
  const tests = (await readTests(context)).map((test) => ({ test, value: rank(test) })).filter(({ value }) => value > 0);
  return tests.toSorted((one, other) => other.value - one.value).map(({ test }) => test);
}

function findChangedNames(path: string, was: string, is: string): readonly string[] {
  const before = new Set(findDefinitions(path, was).map(({ name, text }) => `${name} ${withoutSpace(text)}`));
  return findDefinitions(path, is)
    .filter(({ name, text }) => !before.has(`${name} ${withoutSpace(text)}`))
    .map(({ name }) => name);
}
