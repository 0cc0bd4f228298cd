// self-written: finds out whether every test that a pass depends on was written by the work itself.
// Such tests show what their author thinks is right: a person has to read them, or give a check
// that the agent never sees. If some are older, it finds new functions that only the work's own
// tests ask. Pure, except for the question.

import { listSome } from "../../../kit/list-some.ts";
import { type Definition, findDefinitions, findFunctions } from "../source-text/definitions.ts";
import {
  isNameOfFile,
  isNameOfTest,
  type TestCase,
  findTestCases,
} from "../source-text/test-cases.ts";
import type { Observed } from "../broken-expectations/noticed-flips.ts";
import { filterDeciding } from "../broken-expectations/deciding-tests.ts";
import { isTestRow } from "../../protected/kinds.ts";
import { keyOfCode } from "../../protected/same-code.ts";
import { filesReadMax } from "../lab.ts";
import { mayRunTests } from "../run-code.ts";
import { readAllTests, type QuestionContext, readSources } from "../questions/question-context.ts";
import { areFunctionsShown } from "./user-commands.ts";

/**
 * The files of those tests; empty if one of them is older than the work. `current` and `earlier`:
 * the tests as they are judged and as they were before the work. `passedNames`: the names of those
 * that passed, or of their whole files, or null if the check names none.
 */
export function findSelfWrittenPaths(
  {
    current,
    earlier,
  }: { readonly current: readonly TestCase[]; readonly earlier: readonly TestCase[] },
  { before, wasRed }: { readonly before: Observed | null; readonly wasRed: boolean },
  passedNames: readonly string[] | null,
): readonly string[] {
  const isPassed = (name: string, test: TestCase): boolean =>
    isNameOfTest(name, test) || isNameOfFile(name, test.path);
  const hasPassed = (test: TestCase): boolean =>
    passedNames === null || passedNames.some((name) => isPassed(name, test));
  const deciding = filterDeciding(current, earlier, before, wasRed).filter(hasPassed);
  const earlierTests = new Set(earlier.map(testKey));

  return deciding.some((test) => earlierTests.has(testKey(test)))
    ? []
    : [...new Set(deciding.map(({ path }) => path))];
}

/** Without the path and the layout: a test that was moved or formatted is no new test. */
const testKey = ({ path, text }: TestCase): string => keyOfCode(path, text);

/**
 * The same tests with renamed functions and constants called what they were before the work: a
 * test that follows a rename is no new one.
 */
export function undoRenames(
  tests: readonly TestCase[],
  sources: readonly Source[],
): readonly TestCase[] {
  const renames = sources.flatMap(findRenames);
  if (renames.length === 0) return tests;
  return tests.map((test) => ({
    ...test,
    text: renames.reduce((text, { from, to }) => replaceName(text, to, from), test.text),
  }));
}

/** Definitions that have another name and are otherwise as they were. */
function findRenames({ path, was, is }: Source): readonly { from: string; to: string }[] {
  const [before, now] = [findDefinitions(path, was ?? ""), findDefinitions(path, is)];
  const others = (all: readonly Definition[], known: readonly Definition[]) =>
    all.filter(({ name }) => !known.some((definition) => definition.name === name));
  const gone = others(before, now);

  return others(now, before).flatMap(({ name, text }) => {
    const same = gone.filter((one) => replaceName(text, name, one.name) === one.text);
    return same.length === 1 ? same.map((one) => ({ from: one.name, to: name })) : [];
  });
}

const replaceName = (text: string, name: string, other: string): string =>
  text.replaceAll(
    new RegExp(`(?<![\\w$])${name.replaceAll("$", "\\$")}(?![\\w$])`, "g"),
    () => other,
  );

type Source = { readonly path: string; readonly was: string | null; readonly is: string };

/**
 * New functions of changed code that new tests call, and neither older tests nor other changed code
 * name.
 */
export function findFunctionsOfOwnTests(
  sources: readonly Source[],
  current: readonly TestCase[],
  earlier: readonly TestCase[],
): readonly Definition[] {
  const earlierTests = new Set(earlier.map(testKey));
  const newTests = current.filter((test) => !earlierTests.has(testKey(test)));
  const earlierNames = new Set(
    sources.flatMap(({ path, was }) => findFunctions(path, was ?? "").map(({ name }) => name)),
  );

  return sources
    .flatMap(({ path, is }) => findFunctions(path, is))
    .filter(({ name }) => !earlierNames.has(name))
    .filter((definition) => !current.some((test) => isWithin(definition, test)))
    .filter((definition) => {
      const call = new RegExp(`(?<![\\w$])${definition.name.replaceAll("$", "\\$")}!?\\s*\\(`);
      return (
        newTests.some(({ text }) => call.test(text)) &&
        !earlier.some(({ text }) => text.includes(definition.name)) &&
        !sources.some((source) => isNamedBeside(definition, source))
      );
    });
}

/** Whether it is the test itself, which stands in the code (Rust), or a function in it. */
const isWithin = ({ path, line }: Definition, test: TestCase): boolean =>
  path === test.path && test.from <= line && line <= test.to;

/** Whether code beside its definition calls the function or hands it on. */
function isNamedBeside({ path, name, from, to }: Definition, source: Source): boolean {
  const rest = source.path === path ? source.is.slice(0, from) + source.is.slice(to) : source.is;
  const lines = rest.split("\n").filter((line) => !importOrExport.test(line));
  const escapedName = name.replaceAll("$", "\\$");

  return new RegExp(`[(,=:?&|]\\s?${escapedName}\\b|(?<![\\w$])${escapedName}\\s?\\(`).test(
    lines.join("\n"),
  );
}

const importOrExport =
  /^\s*(?:import|export\s*[{*]|from|use|pub use|module\.exports|exports|__all__)\b/;

export const describeFunctionsOfOwnTests = (functions: readonly Definition[]): string =>
  `only tests that the work wrote itself show ${listSome(functions.map(({ name, path, line }) => `${name} (${path}:${line})`))}, so read them, or add a check of your own (--holdout)`;

export const describeSelfWritten = (paths: readonly string[]): string =>
  `only tests that the work wrote itself show it (${listSome(paths)}), so read them, or add a check of your own (--holdout)`;

/**
 * Asked unless a check that passed before got nothing but tests: that it shows nothing is a gap of
 * its own.
 */
export async function findSelfWrittenTests(context: QuestionContext): Promise<string | null> {
  const { lab, passed, differences } = context;
  if (!context.areNewTestsRun || !mayRunTests(lab)) return null;
  if (!lab.wasRed && differences.every(({ path }) => isTestRow(context.rules.rowOf(path)))) {
    return null;
  }

  const tests = await readAllTests(context);
  const gone = differences.filter(
    ({ path, kind }) => kind === "deleted" && context.rules.rowOf(path)?.kind === "test",
  );

  const earlierCases = await Promise.all(
    [...tests, ...gone.slice(0, filesReadMax)].map(async ({ path }) =>
      findTestCases(path, (await lab.textAt("base", path)) ?? ""),
    ),
  );

  const sources = await readSources(context);
  const cases = tests.flatMap(({ path, text }) => findTestCases(path, text));
  const current = undoRenames(cases, sources);
  const earlier = earlierCases.flat();
  const paths = findSelfWrittenPaths({ current, earlier }, lab, passed);
  if (paths.length > 0) {
    const isShown = await areFunctionsShown(context.userCommands, sources, lab);
    return isShown ? null : describeSelfWritten(paths);
  }

  const functions = findFunctionsOfOwnTests(sources, current, earlier);
  return functions.length === 0 ? null : describeFunctionsOfOwnTests(functions);
}
