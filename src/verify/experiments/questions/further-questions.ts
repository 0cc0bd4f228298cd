// further-questions: further experiments on a pass, each one run and only if the change contains what it is about: code that depends on the
// build, recorded answers, changed examples in documentation, new tests that test something else.

import type { Check } from "../../../contracts/evidence.ts";
import type { Difference } from "../../../ports/workspace.ts";
import type { Setting } from "../../protected/judge.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { isOfTests } from "../../protected/find-protected.ts";
import type { Looked } from "../../protected/look-at.ts";
import { onlyLooks } from "../../protected/programs.ts";
import { answersInCode, answersInCodeWords } from "../authorship/answers-in-code.ts";
import { featuresOn, asOtherBuild, otherBuildWords, unbuiltWords } from "./build-conditions.ts";
import { casesIn, isNameOfTest, isOfFile, type TestCase } from "../source/test-cases.ts";
import { nonceOf } from "../breaks/choose-breaks.ts";
import { areExamplesRun, examplesWords, withExamplesOf } from "../breaks/examples.ts";
import { hollowAmong, hollowWords } from "./unrelated-tests.ts";
import { type Edit, filesReadMax, type Laboratory } from "../laboratory.ts";
import { definedWords, type Mutated } from "./mutations.ts";
import type { Observed } from "../breaks/noticed-breaks.ts";
import { testsIn } from "./raised-questions.ts";
import { sharedGaps } from "./shared-questions.ts";
import { type Shadow, shadowsIn, shadowWords } from "./shadowing.ts";
import { selfWritten, selfWrittenWords } from "../authorship/self-written.ts";
import { endingOthers } from "./main-program-only.ts";
import { noticedIn, otherAnswers, writtenAnswers, writtenAnswersWords } from "./recorded-snapshots.ts";

export type Questions = {
  readonly check: Check;
  readonly lab: Pick<Laboratory, "now" | "before" | "wasRed" | "textAt" | "seed">;
  /** The names of the tests that passed, or null if the check named none. */
  readonly passed: readonly string[] | null;
  readonly setting: Setting;
  readonly differences: readonly Difference[];
  /** What the run is for, in its user's words. */
  readonly goal?: string;
  /** Runs the check with these files replaced and those deleted; null if it took too long, which is reported. */
  readonly ask: (whether: string, change: Asked) => Promise<Observed | null>;
  /** The work's functions changed to return something else, and the result. */
  readonly mutant: { readonly change: Mutated; readonly observed: Observed } | null;
};
type Asked = { readonly edits?: readonly Edit[]; readonly without?: readonly string[]; readonly command?: string };
type Source = { readonly path: string; readonly was: string | null; readonly is: string };

type Answers = {
  /** What a person has to review, as text. */
  readonly gaps: readonly string[];
  /** Of the files that newly read the command line those that are loaded only as programs; null if there is none. */
  readonly programs: readonly string[] | null;
};

export async function askFurther(questions: Questions): Promise<Answers> {
  const { check, differences } = questions;
  const ofAll = [
    await placesTaken(questions),
    ...(await sharedGaps(questions)),
    isPlanned(check, differences) && onlyLooks(check.command) ? onlyLooksWords : null,
  ];
  const gaps =
    check.kind !== "criterion"
      ? ofAll
      : [
          ...ofAll,
          await builtOtherwise(questions),
          await examplesAsBefore(questions),
          await answersWritten(questions),
          await hollowTests(questions),
          await answersBesideInputs(questions),
          await testsOfItsOwn(questions),
        ];
  return { gaps: gaps.flatMap((gap) => gap ?? []), programs: await startedOnly(questions) };
}

async function answersBesideInputs(questions: Questions): Promise<string | null> {
  const tests = (await allTests(questions)).map(({ text }) => text);
  const found = answersInCode(await sourcesIn(questions), tests, questions.goal ?? "");
  return found.length === 0 ? null : answersInCodeWords(found);
}

async function testsOfItsOwn(questions: Questions): Promise<string | null> {
  const { lab, passed } = questions;
  if ((lab.now.tests?.ran ?? 0) === 0) return null;
  const tests = await allTests(questions);
  const then = await Promise.all(tests.map(async ({ path }) => casesIn(path, (await lab.textAt("base", path)) ?? "")));
  const paths = selfWritten({ now: tests.flatMap(({ path, text }) => casesIn(path, text)), then: then.flat() }, lab, passed);
  return paths.length === 0 ? null : selfWrittenWords(paths);
}

/** The tests as they are judged: those that were there, and the work's own. */
async function allTests({ differences, setting, lab: { textAt } }: Questions): Promise<readonly { path: string; text: string }[]> {
  const added = differences.filter(({ path, kind }) => kind === "added" && setting.rowOf(path)?.kind === "test").slice(0, filesReadMax);
  const own = await Promise.all(added.map(async ({ path }) => ({ path, text: (await textAt("work", path)) ?? "" })));
  return [...(await testsIn(setting, textAt)), ...own];
}

async function startedOnly({ differences, setting, lab, ask }: Questions): Promise<readonly string[] | null> {
  const files: Looked[] = [];
  for (const difference of differences.filter(({ path, kind }) => kind !== "deleted" && isProgramText(path)).slice(0, filesReadMax)) {
    const [before, after] = [await lab.textAt("base", difference.path), await lab.textAt("work", difference.path)];
    files.push({ difference, before, after, isTest: isOfTests(setting.rowOf(difference.path)) });
  }
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
const onlyLooksWords = "its command was written in this run and only looks for a word or a file";

async function placesTaken({ differences, setting, ask }: Questions): Promise<string | null> {
  const shadows: Shadow[] = [];
  for (const shadow of shadowsIn(differences, setting.base)) {
    const whether = `${shadow.path} takes the place of something from outside the project`;
    if ((await ask(whether, { without: [shadow.path], command: shadow.command }))?.passed === true) shadows.push(shadow);
  }
  return shadows.length === 0 ? null : shadowWords(shadows);
}

/** The work's own code, not what judges it. */
async function sourcesIn({ differences, setting, lab: { textAt } }: Questions): Promise<readonly Source[]> {
  const isSource = ({ path, kind }: Difference): boolean => {
    const row = setting.rowOf(path);
    return kind !== "deleted" && isProgramText(path) && (row === null || row.part === "rust_source" || row.kind === "scripts");
  };
  const paths = differences.filter(isSource).slice(0, filesReadMax);
  return Promise.all(paths.map(async ({ path }) => ({ path, was: await textAt("base", path), is: (await textAt("work", path)) ?? "" })));
}

/** Tests that expect an assertion of the code to fail do not count in a build without assertions. */
const expectsAssertion = /AssertionError|should_panic|catch_unwind|DEATH|SIGABRT|\bWIFSIGNALED\b|-6\b/;

async function builtOtherwise(questions: Questions): Promise<string | null> {
  const { lab, ask, setting } = questions;
  const { now, textAt } = lab;
  const sources = await sourcesIn(questions);
  const manifests = sources.some(({ path }) => path.endsWith(".rs")) ? await manifestsFor(sources, textAt) : [];
  const isOn = featuresOn(manifests, setting.named.used);
  const texts = [...(await allTests(questions)), ...sources.map(({ path, is }) => ({ path, text: is }))];
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

async function examplesAsBefore(questions: Questions): Promise<string | null> {
  const { ask, setting, lab } = questions;
  const told = [...(lab.before?.failed ?? []), ...(lab.before?.held ?? [])];
  const edits = (await sourcesIn(questions)).flatMap(({ path, was, is }): readonly Edit[] => {
    const isAsked = areExamplesRun(path, [...setting.named.used, is], told);
    const text = was === null || !isAsked ? null : withExamplesOf(path, was, is);
    return text === null ? [] : [{ path, text }];
  });
  if (edits.length === 0) return null;
  const paths = edits.map(({ path }) => path);
  const observed = await ask(`the examples of ${paths.join(", ")} pass as they were before the work`, { edits });
  return observed?.passed === false ? examplesWords(paths) : null;
}

async function answersWritten({ differences, setting, lab: { textAt, now }, ask }: Questions): Promise<string | null> {
  const paths = (now.tests?.ran ?? 0) === 0 ? [] : writtenAnswers(differences, setting.rowOf);
  const edits: Edit[] = [];
  for (const path of paths) {
    const text = await textAt("work", path);
    if (text !== null && text !== (await textAt("base", path))) edits.push({ path, text: otherAnswers(text) });
  }
  if (edits.length === 0) return null;
  const observed = await ask(`tests compare with ${edits.map(({ path }) => path).join(", ")}`, { edits });
  if (observed === null) return null;
  const old: TestCase[] = [];
  for (const { path } of await testsIn(setting, textAt)) old.push(...casesIn(path, (await textAt("base", path)) ?? ""));
  const noticed = noticedIn(old, observed);
  return noticed.length === 0
    ? null
    : writtenAnswersWords(
        edits.map(({ path }) => path),
        noticed,
      );
}

async function hollowTests({ mutant, lab: { textAt } }: Questions): Promise<string | null> {
  if (mutant === null) return null;
  const texts = new Map<string, string>();
  for (const path of new Set(mutant.change.cases.map((one) => one.path))) texts.set(path, (await textAt("work", path)) ?? "");
  const hollow = hollowAmong(mutant.change, mutant.observed, (path) => texts.get(path) ?? "");
  return hollow.length === 0 ? null : hollowWords(hollow, definedWords(mutant.change.defined));
}
