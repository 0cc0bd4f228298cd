// raised-questions: questions about a pass (table.ts) that are read from the files of a change: what of it is to be restored, or to return
// something else.

import type { Difference } from "../../../ports/workspace.ts";
import { textBytesMax } from "../../protected/find-protected.ts";
import { isProgramText, findRow } from "../../protected/kinds.ts";
import { nonceOf } from "../breaks/choose-breaks.ts";
import { filesReadMax } from "../laboratory.ts";
import { expectedFrom, expectedFromWords, referencesIn, unaskedWords } from "../source/expected-value-sources.ts";
import { type Asking, changedIn, type Files, isTest, type Raised, type Source, testsIn } from "./asking.ts";
import { manifestAsBefore } from "./manifest-settings.ts";
import { definedWords, mutated, type Mutated, unnoticed } from "./mutations.ts";
import { besideCode, besideCodeWords } from "./non-code-files.ts";
import { configurationAsBefore, configurationWords, isSettings } from "./test-configuration.ts";

const binaryBytesMax = 64 << 20;
const manifestPath = "package.json";
const namesMax = 5;
const listed = (words: readonly string[]): string =>
  `${words.slice(0, namesMax).join(", ")}${words.length > namesMax ? ` and ${words.length - namesMax} more` : ""}`;
const asBefore = (paths: readonly string[]): string => `it passes with ${listed(paths)} as before the work`;

/** The manifest's other settings as they were, if the work changed them. */
export async function manifestSettings({ differences, lab: { textAt } }: Asking): Promise<Raised | null> {
  if (!differences.some(({ path, kind }) => path === manifestPath && kind === "changed")) return null;
  const text = manifestAsBefore(await textAt("base", manifestPath), await textAt("work", manifestPath));
  const gap = besideCodeWords({ paths: [manifestPath], without: [] });
  return text === null ? null : { whether: asBefore([manifestPath]), change: { edits: [{ path: manifestPath, text }] }, gap };
}

/** Modules that the settings of tests load, as they were, for the settings alone. */
export async function testConfiguration({ setting, differences, lab }: Asking): Promise<Raised | null> {
  const isCode = ({ path, kind }: Difference): boolean => kind === "changed" && setting.rowOf(path) === null && isProgramText(path);
  const changed = new Set(differences.filter(isCode).map(({ path }) => path));
  if (changed.size === 0) return null;
  const settings = [...setting.base].filter((path) => isSettings.test(path) && setting.rowOf(path)?.kind === "test_config");
  const before = { isThere: (path: string) => setting.base.has(path), was: (path: string) => lab.textAt("base", path) };
  const found = await configurationAsBefore(settings.slice(0, filesReadMax), changed, before, nonceOf(lab.seed));
  return found === null ? null : { whether: asBefore(found.paths), change: { edits: found.edits }, gap: configurationWords(found.paths) };
}

/** Modules that the work changed and that tests of the base import only expected values from. */
export async function expectedSources(asking: Asking): Promise<Raised | null> {
  const { setting, differences } = asking;
  const isCode = ({ path, kind }: Difference): boolean => kind === "changed" && setting.rowOf(path) === null && isProgramText(path);
  const changed = new Set(differences.filter(isCode).map(({ path }) => path));
  const paths = changed.size === 0 ? [] : expectedFrom(await testsIn(asking), changed);
  return paths.length === 0 ? null : { whether: asBefore(paths), change: { paths }, gap: expectedFromWords(paths) };
}

/** Whether tests notice when unchanged functions beside them, which they compare with, return something else. */
export async function references(asking: Asking): Promise<string | null> {
  const { setting, differences, lab } = asking;
  const changed = new Set(differences.map(({ path }) => path));
  const tests = await testsIn(asking);
  const isBesideTests = (path: string): boolean => setting.base.has(path) && !changed.has(path) && isTest(asking, path);
  const found = referencesIn(tests, { has: isBesideTests });
  const sources = await Promise.all(
    [...found.keys()].map(async (path) => ({ path, was: null, is: (await lab.textAt("work", path)) ?? "" })),
  );
  const reference = mutated(
    sources,
    tests.map(({ path, text }) => ({ path, was: null, is: text })),
    nonceOf(lab.seed),
    (path, name) => found.get(path)?.has(name) === true,
  );
  if (reference === null) return null;
  const observed = await asking.ask(`its tests compare with ${definedWords(reference.defined)}`, { edits: reference.edits });
  const unasked = observed === null ? null : unnoticed(reference, lab.now, observed);
  return unasked === null || unasked.length === 0 ? null : unaskedWords(definedWords(unasked));
}

/** The work's own functions, as its tests call them, changed to return something else; null if there are none. */
export async function changeOf(files: Pick<Files, "differences" | "lab">, nonce: string): Promise<Mutated | null> {
  const texts = await changedIn(files, isProgramText);
  const isOfTests = ({ path }: Source): boolean => findRow(path)?.kind === "test";
  const isInside = ({ path }: Source): boolean => findRow(path)?.part === "rust_source";
  return mutated(
    texts.filter((one) => !isOfTests(one) || isInside(one)),
    texts.filter(isOfTests),
    nonce,
  );
}

/** What the work changed besides code and tests, and the check may depend on. */
export async function filesBesideCode(asking: Asking): Promise<Raised | null> {
  const { check, commit, workspace, differences, goal = "" } = asking;
  const { rowOf: ruleOf, named, base } = asking.setting;
  const words = goal.split(/[\s"'`;,()<>]+/).map((word) => word.replace(/^\.\//, "").replace(/[.:!?]+$/, ""));
  const wished = differences.map(({ path }) => path).filter((path) => words.includes(path));
  const tests = wished.length === 0 ? [] : await testsIn(asking);
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
  const { command } = check;
  const beside = besideCode({ differences, base, rowOf: ruleOf, command, used: named.usedCommands, isScript, isBinary, isWished });
  if (beside === null) return null;
  return { whether: asBefore([...beside.paths, ...beside.without]), change: beside, gap: besideCodeWords(beside) };
}
