// further-questions: questions about a pass (table.ts): code that depends on the build, recorded answers, changed examples in documentation,
// new tests that test something else, who wrote the tests.

import type { Check } from "../../../contracts/evidence.ts";
import type { Difference } from "../../../ports/workspace.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { isTestRow } from "../../protected/find-protected.ts";
import type { ReviewedFile } from "../../protected/look-at.ts";
import { isReadOnly as looksOnly } from "../../protected/programs.ts";
import { answersInCode, answersInCodeWords } from "../authorship/answers-in-code.ts";
import { featuresOn, asOtherBuild, otherBuildWords, unbuiltWords } from "./build-conditions.ts";
import { casesIn, isNameOfTest, isOfFile, type TestCase } from "../source/test-cases.ts";
import { nonceOf } from "../breaks/choose-breaks.ts";
import { areExamplesRun, examplesWords, withExamplesOf } from "../breaks/examples.ts";
import { hollowAmong, hollowWords } from "./unrelated-tests.ts";
import { type Edit, filesReadMax, type Laboratory } from "../laboratory.ts";
import { allTestsIn, type Asking, changedIn, type Source, sourcesIn, testsIn, type Raised } from "./asking.ts";
import { definedWords } from "./mutations.ts";
import { type Shadow, shadowsIn, shadowWords } from "./shadowing.ts";
import { selfWritten, selfWrittenWords } from "../authorship/self-written.ts";
import { endingOthers } from "./main-program-only.ts";
import { noticedIn, otherAnswers, writtenAnswers, writtenAnswersWords } from "./recorded-snapshots.ts";

export async function answersBesideInputs(asking: Asking): Promise<string | null> {
  const tests = (await allTestsIn(asking)).map(({ text }) => text);
  const sources = await sourcesIn(asking);
  const withoutTests = sources.map(({ path, was, is }) => ({
    path,
    was,
    is: casesIn(path, is).reduce((text, one) => text.replace(one.text, ""), is),
  }));
  const found = answersInCode(withoutTests, tests, asking.goal ?? "");
  return found.length === 0 ? null : answersInCodeWords(found);
}

/** Nothing but tests on a check that passed before shows nothing, which is a gap of its own. */
export async function testsOfItsOwn(asking: Asking): Promise<string | null> {
  const { lab, passed, differences } = asking;
  if (!lab.wasRed && differences.every(({ path }) => isTestRow(asking.setting.rowOf(path)))) return null;
  const tests = await allTestsIn(asking);
  const gone = differences.filter(({ path, kind }) => kind === "deleted" && asking.setting.rowOf(path)?.kind === "test");
  const then = await Promise.all(
    [...tests, ...gone.slice(0, filesReadMax)].map(async ({ path }) => casesIn(path, (await lab.textAt("base", path)) ?? "")),
  );
  const paths = selfWritten({ now: tests.flatMap(({ path, text }) => casesIn(path, text)), then: then.flat() }, lab, passed);
  return paths.length === 0 ? null : selfWrittenWords(paths);
}

/** Of the files that newly read the command line those that are loaded only as programs; null if there is none. */
export async function startedOnly(asking: Asking): Promise<readonly string[] | null> {
  const { differences, setting, lab, ask } = asking;
  const files = (await changedIn(asking, isProgramText)).flatMap(({ path, was, is }): readonly ReviewedFile[] => {
    const difference = differences.find((one) => one.path === path);
    return difference === undefined ? [] : [{ difference, before: was, after: is, isTest: isTestRow(setting.rowOf(path)) }];
  });
  const edits = endingOthers(files, nonceOf(lab.seed));
  if (edits.length === 0) return null;
  const paths = edits.map(({ path }) => path);
  const observed = await ask(`${paths.join(", ")} is loaded as a program alone`, { edits });
  return observed?.passed === true && (observed.tests?.ran ?? 0) >= (lab.now.tests?.ran ?? 0) ? paths : [];
}

/** Whether a file that the run itself wrote names this check: a plan, for example. */
const isPlanned = ({ source }: Check, differences: readonly Difference[]): boolean => {
  const path = /^(.+):\d+$/.exec(source)?.[1];
  return path !== undefined && differences.some((one) => one.path === path && one.kind !== "deleted");
};
export const onlyLooks = async ({ check, differences }: Asking): Promise<string | null> =>
  isPlanned(check, differences) && looksOnly(check.command)
    ? "its command was written in this run and only looks for a word or a file"
    : null;

export async function placesTaken({ differences, setting, ask }: Asking): Promise<string | null> {
  const shadows: Shadow[] = [];
  for (const shadow of shadowsIn(differences, setting.base)) {
    const whether = `${shadow.path} takes the place of something from outside the project`;
    if ((await ask(whether, { without: [shadow.path], command: shadow.command }))?.passed === true) shadows.push(shadow);
  }
  return shadows.length === 0 ? null : shadowWords(shadows);
}

/** Tests that expect an assertion of the code to fail do not count in a build without assertions. */
const expectsAssertion = /AssertionError|should_panic|catch_unwind|DEATH|SIGABRT|\bWIFSIGNALED\b|-6\b/;

export async function buildConditions(asking: Asking): Promise<string | null> {
  const { lab, ask, setting } = asking;
  const { now, textAt } = lab;
  const sources = await sourcesIn(asking);
  const manifests = sources.some(({ path }) => path.endsWith(".rs")) ? await manifestsFor(sources, textAt) : [];
  const isOn = featuresOn(manifests, setting.named.usedCommands);
  const texts = [...(await allTestsIn(asking)), ...sources.map(({ path, is }) => ({ path, text: is }))];
  const cases = texts.flatMap(({ path, text }) => casesIn(path, text));
  const paths = [...new Set(cases.map(({ path }) => path))];
  let tried = "";
  let off: readonly string[] = [];
  for (const isGentle of [false, true]) {
    const turned = sources.flatMap(({ path, ...texts }) => {
      const other = asOtherBuild({ path, ...texts }, isOn, isGentle);
      return other === null ? [] : [{ path, ...other }];
    });
    const edits = turned.map(({ path, text }) => ({ path, text }));
    if (edits.length === 0) return null; // the rest is for tests alone
    if (JSON.stringify(edits) === tried) break;
    tried = JSON.stringify(edits);
    off = [...new Set(turned.flatMap((one) => one.off))];
    const observed = await ask(`it passes without ${off.join(", ")}`, { edits });
    if (observed === null) return null;
    const ran = (observed.tests?.ran ?? 0) >= (now.tests?.ran ?? 0);
    if (observed.passed && ran) return null;
    const failed = [...observed.failed].filter((name) => !now.failed.has(name) && !paths.some((path) => isOfFile(name, path)));
    const forgiven = failed.filter((name) => cases.some((one) => isNameOfTest(name, one) && expectsAssertion.test(one.text)));
    const left = failed.filter((name) => !forgiven.includes(name));
    if (left.length > 0 || (!observed.passed && failed.length === 0 && (now.tests?.ran ?? 0) === 0)) return otherBuildWords(off, left);
    if (forgiven.length > 0 && ran) return null;
  }
  return unbuiltWords(off);
}

async function manifestsFor(sources: readonly Source[], textAt: Laboratory["textAt"]): Promise<readonly string[]> {
  const folders = new Set<string>([""]);
  for (const { path } of sources)
    for (let index = path.lastIndexOf("/"); index > 0; index = path.lastIndexOf("/", index - 1)) folders.add(path.slice(0, index + 1));
  const texts = await Promise.all([...folders].map((folder) => textAt("work", `${folder}Cargo.toml`)));
  return texts.flatMap((text) => text ?? []);
}

export async function examplesAsBefore(asking: Asking): Promise<Raised | null> {
  const { setting, lab } = asking;
  const told = [...(lab.before?.failed ?? []), ...(lab.before?.held ?? [])];
  const edits = (await sourcesIn(asking)).flatMap(({ path, was, is }): readonly Edit[] => {
    const isAsked = areExamplesRun(path, [...setting.named.usedCommands, is], told);
    const text = was === null || !isAsked ? null : withExamplesOf(path, was, is);
    return text === null ? [] : [{ path, text }];
  });
  const paths = edits.map(({ path }) => path);
  const whether = `the examples of ${paths.join(", ")} pass as they were before the work`;
  return edits.length === 0 ? null : { whether, change: { edits }, gap: examplesWords(paths) };
}

export async function answersWritten(asking: Asking): Promise<string | null> {
  const { textAt } = asking.lab;
  const paths = writtenAnswers(asking.differences, asking.setting.rowOf);
  const edits: Edit[] = [];
  for (const path of paths) {
    const text = await textAt("work", path);
    if (text !== null && text !== (await textAt("base", path))) edits.push({ path, text: otherAnswers(text) });
  }
  if (edits.length === 0) return null;
  const observed = await asking.ask(`tests compare with ${edits.map(({ path }) => path).join(", ")}`, { edits });
  if (observed === null) return null;
  const old: TestCase[] = [];
  for (const { path } of await testsIn(asking)) old.push(...casesIn(path, (await textAt("base", path)) ?? ""));
  const noticed = noticedIn(old, observed);
  return noticed.length === 0
    ? null
    : writtenAnswersWords(
        edits.map(({ path }) => path),
        noticed,
      );
}

export async function hollowTests({ mutant, lab: { textAt } }: Asking): Promise<string | null> {
  if (mutant === null) return null;
  const texts = new Map<string, string>();
  for (const path of new Set(mutant.change.cases.map((one) => one.path))) texts.set(path, (await textAt("work", path)) ?? "");
  const hollow = hollowAmong(mutant.change, mutant.observed, (path) => texts.get(path) ?? "");
  return hollow.length === 0 ? null : hollowWords(hollow, definedWords(mutant.change.defined));
}
