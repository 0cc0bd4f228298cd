// raised-questions: which experiments a change calls for, read from its files: what of it is to be restored, or to return something else.

import type { Check } from "../../../contracts/evidence.ts";
import type { GitSha } from "../../../contracts/ids.ts";
import type { Difference } from "../../../ports/workspace.ts";
import type { Setting } from "../../protected/judge.ts";
import { isProgramText, rowOf } from "../../protected/kinds.ts";
import { type Reading, textBytesMax } from "../../protected/find-protected.ts";

import { besideCode } from "./non-code-files.ts";
import { expectedFrom, referencesIn } from "../source/expected-value-sources.ts";
import { type Edit, filesReadMax, type Side } from "../laboratory.ts";
import { manifestAsBefore } from "./manifest-settings.ts";
import { mutated, type Mutated, type Source } from "./mutations.ts";
import { type PlainCalls, plainCallsOf } from "../outside/calls-outside-tests.ts";
import type { RemovedWork } from "./without-work.ts";

type Texts = Pick<Reading, "textAt">;

const binaryBytesMax = 64 << 20;
const changedMax = 60;

export const manifestPath = "package.json";
const namesMax = 5;
/** The text of a question about these. */
export const restoredQuestion = (paths: readonly string[]): string => {
  const more = paths.length > namesMax ? ` and ${paths.length - namesMax} more` : "";
  return `it passes with ${paths.slice(0, namesMax).join(", ")}${more} as before the work`;
};

/** The manifest's other settings as they were, if the work changed them. */
export async function manifestEdit(
  workspace: Texts,
  base: GitSha,
  commit: GitSha,
  differences: readonly Difference[],
): Promise<Edit | null> {
  if (!differences.some(({ path, kind }) => path === manifestPath && kind === "changed")) return null;
  const [before, now] = [
    await workspace.textAt(base, manifestPath, textBytesMax),
    await workspace.textAt(commit, manifestPath, textBytesMax),
  ];
  const text = manifestAsBefore(before, now);
  return text === null ? null : { path: manifestPath, text };
}

type TextAt = (side: Side, path: string) => Promise<string | null>;
type TestText = { readonly path: string; readonly text: string };

/** The base's test files, as they are judged. */
export async function testsIn(setting: Setting, textAt: TextAt): Promise<readonly TestText[]> {
  const tests: TestText[] = [];
  for (const path of testPathsIn(setting)) {
    const text = await textAt("work", path);
    if (text !== null) tests.push({ path, text });
  }
  return tests;
}

/** Several questions ask for them, and a tree may have a hundred thousand paths to look through. */
const knownTestPaths = new WeakMap<Setting, readonly string[]>();

function testPathsIn(setting: Setting): readonly string[] {
  const { mayBeTest = () => true } = setting;
  const known = knownTestPaths.get(setting);
  if (known !== undefined) return known;
  const paths: string[] = [];
  for (const path of setting.base) {
    if (mayBeTest(path) && isProgramText(path) && setting.rowOf(path)?.kind === "test") paths.push(path);
    if (paths.length === filesReadMax) break;
  }
  knownTestPaths.set(setting, paths);
  return paths;
}

/** Modules that the work changed and that tests of the base import only expected values from. */
export async function expectedSources(setting: Setting, differences: readonly Difference[], textAt: TextAt): Promise<readonly string[]> {
  const isCode = ({ path, kind }: Difference): boolean => kind === "changed" && setting.rowOf(path) === null && isProgramText(path);
  const changed = new Set(differences.filter(isCode).map(({ path }) => path));
  return changed.size === 0 ? [] : expectedFrom(await testsIn(setting, textAt), changed);
}

/** Unchanged functions beside the tests that these compare with, changed to return something else; null if there are none. */
export async function referencesOf(
  setting: Setting,
  differences: readonly Difference[],
  textAt: TextAt,
  nonce: string,
): Promise<Mutated | null> {
  const { base, rowOf: ruleOf } = setting;
  const changed = new Set(differences.map(({ path }) => path));
  const tests = await testsIn(setting, textAt);
  const isBesideTests = (path: string): boolean => base.has(path) && !changed.has(path) && ruleOf(path)?.kind === "test";
  const references = referencesIn(tests, { has: isBesideTests });
  const sources = await Promise.all(
    [...references.keys()].map(async (path) => ({ path, was: null, is: (await textAt("work", path)) ?? "" })),
  );
  const isMeant = (path: string, name: string): boolean => references.get(path)?.has(name) === true;
  return mutated(
    sources,
    tests.map(({ path, text }) => ({ path, was: null, is: text })),
    nonce,
    isMeant,
  );
}

const plainMax = 2;

/** Calls in test files that name a changed module, repeated outside them. */
export async function plainCallsIn(
  setting: Setting,
  differences: readonly Difference[],
  textAt: TextAt,
  nonce: string,
): Promise<readonly PlainCalls[]> {
  const changed = differences.filter(({ path }) => isProgramText(path) && setting.rowOf(path) === null);
  const stems = changed.map(({ path }) => /([^/]+?)(?:\/(?:index|__init__))?\.\w+$/.exec(path)?.[1] ?? path);
  const tests = (await testsIn(setting, textAt)).filter(({ text }) => stems.some((stem) => text.includes(stem)));
  return tests.flatMap(({ path, text }) => plainCallsOf(path, text, nonce) ?? []).slice(0, plainMax);
}

export const outsideWords = (calls: readonly string[]): string =>
  `asked outside its tests, the code gives another answer to one of ${calls.slice(0, namesMax).join(", ")}${calls.length > namesMax ? ` and ${calls.length - namesMax} more` : ""}`;

/** The work's own functions, as its tests call them, changed to return something else; null if there are none. */
export async function changeOf(differences: readonly Difference[], textAt: TextAt, nonce: string): Promise<Mutated | null> {
  const paths = differences.filter(({ path, kind }) => kind !== "deleted" && isProgramText(path)).map(({ path }) => path);
  const texts = await Promise.all(
    paths.slice(0, changedMax).map(async (path) => ({ path, was: await textAt("base", path), is: (await textAt("work", path)) ?? "" })),
  );
  const isTest = ({ path }: Source): boolean => rowOf(path)?.kind === "test";
  const isInside = ({ path }: Source): boolean => rowOf(path)?.part === "rust_source";
  return mutated(
    texts.filter((one) => !isTest(one) || isInside(one)),
    texts.filter(isTest),
    nonce,
  );
}

/** What the work changed besides code and tests, and the check may depend on. */
export async function removableNonCodeChanges(
  workspace: Texts,
  commit: GitSha,
  setting: Setting,
  { command }: Check,
  differences: readonly Difference[],
  { goal = "", textAt }: { readonly goal?: string | undefined; readonly textAt: TextAt },
): Promise<RemovedWork | null> {
  const { rowOf: ruleOf, named, base } = setting;
  const words = goal.split(/[\s"'`;,()<>]+/).map((word) => word.replace(/^\.\//, "").replace(/[.:!?]+$/, ""));
  const wished = differences.map(({ path }) => path).filter((path) => words.includes(path));
  const tests = wished.length === 0 ? [] : await testsIn(setting, textAt);
  const isWished = (path: string): boolean =>
    wished.includes(path) && !tests.some(({ text }) => text.includes(path.split("/").at(-1) ?? path));
  const scripts = new Set<string>();
  for (const { path, kind } of differences)
    if (kind !== "deleted" && !/\.[^/]*$/.test(path) && (await workspace.textAt(commit, path, textBytesMax))?.startsWith("#!") === true)
      scripts.add(path);
  const binaries = new Set<string>();
  for (const { path, kind } of differences)
    if (kind === "added" && ruleOf(path) !== null && (await workspace.textAt(commit, path, binaryBytesMax)) === null) binaries.add(path);
  const [isScript, isBinary] = [(path: string) => scripts.has(path), (path: string) => binaries.has(path)];
  return besideCode({ differences, base, rowOf: ruleOf, command, used: named.used, isScript, isBinary, isWished });
}
