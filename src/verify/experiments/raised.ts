// raised: which questions a change raises about a pass, read out of its files: what of it is to be put back, or to answer something else.

import type { Check } from "../../contracts/evidence.ts";
import type { GitSha } from "../../contracts/ids.ts";
import type { Difference } from "../../ports/workspace.ts";
import type { Setting } from "../protected/judge.ts";
import { isProgramText, rowOf } from "../protected/kinds.ts";
import { type Reading, textBytesMax } from "../protected/find-protected.ts";

import { besideCode } from "./beside-code.ts";
import { expectedFrom, referencesIn } from "./expected-from.ts";
import type { Edit, Side } from "./laboratory.ts";
import { manifestAsBefore } from "./manifest-settings.ts";
import { mutated, type Mutated, type Source } from "./mutations.ts";
import { type PlainCalls, plainCallsOf } from "./plain-calls.ts";
import type { TakenOut } from "./without-work.ts";

type Texts = Pick<Reading, "textAt">;

const binaryBytesMax = 64 << 20;
const changedMax = 60;

export const manifestPath = "package.json";
const namesMax = 5;
/** Words for a question about these. */
export const asWas = (paths: readonly string[]): string => {
  const more = paths.length > namesMax ? ` and ${paths.length - namesMax} more` : "";
  return `it passes with ${paths.slice(0, namesMax).join(", ")}${more} as before the work`;
};

/** The manifest's other settings as they were, where the work changed them. */
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

const testsReadMax = 60;

/** Modules that the work changed and that tests of the base take nothing from but what they expect. */
export async function expectedSources(
  { base, rowOf: ruleOf }: Setting,
  differences: readonly Difference[],
  textAt: (side: Side, path: string) => Promise<string | null>,
): Promise<readonly string[]> {
  const changed = new Set(
    differences.filter(({ path, kind }) => kind === "changed" && ruleOf(path) === null && isProgramText(path)).map(({ path }) => path),
  );
  const tests: { path: string; text: string }[] = [];
  for (const path of [...base].filter((one) => changed.size > 0 && ruleOf(one)?.kind === "test").slice(0, testsReadMax)) {
    const text = await textAt("work", path);
    if (text !== null) tests.push({ path, text });
  }
  return expectedFrom(tests, changed);
}

/** Functions beside the tests that they compare with and the work left alone, answering something else; null where there are none. */
export async function referencesOf(
  { base, rowOf: ruleOf }: Setting,
  differences: readonly Difference[],
  textAt: (side: Side, path: string) => Promise<string | null>,
  nonce: string,
): Promise<Mutated | null> {
  const changed = new Set(differences.map(({ path }) => path));
  const tests: { path: string; text: string }[] = [];
  for (const path of [...base].filter((one) => ruleOf(one)?.kind === "test" && isProgramText(one)).slice(0, testsReadMax)) {
    const text = await textAt("work", path);
    if (text !== null) tests.push({ path, text });
  }
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

/** What files of tests that name a changed module ask of functions, asked outside them. */
export async function plainCallsIn(
  { base, rowOf: ruleOf }: Setting,
  differences: readonly Difference[],
  textAt: (side: Side, path: string) => Promise<string | null>,
  nonce: string,
): Promise<readonly PlainCalls[]> {
  const found: PlainCalls[] = [];
  const changed = differences.filter(({ path }) => isProgramText(path) && ruleOf(path) === null);
  const stems = changed.map(({ path }) => /([^/]+?)(?:\/(?:index|__init__))?\.\w+$/.exec(path)?.[1] ?? path);
  for (const path of [...base].filter((one) => ruleOf(one)?.kind === "test" && isProgramText(one)).slice(0, testsReadMax)) {
    const text = found.length < plainMax ? await textAt("work", path) : null;
    const calls = text === null || !stems.some((stem) => text.includes(stem)) ? null : plainCallsOf(path, text, nonce);
    if (calls !== null) found.push(calls);
  }
  return found;
}

export const outsideWords = (calls: readonly string[]): string =>
  `asked outside its tests, the code gives another answer to one of ${calls.slice(0, namesMax).join(", ")}${calls.length > namesMax ? ` and ${calls.length - namesMax} more` : ""}`;

/** The work's own functions, as its tests call them, answering something else; null where there are none. */
export async function changeOf(
  differences: readonly Difference[],
  textAt: (side: Side, path: string) => Promise<string | null>,
  nonce: string,
): Promise<Mutated | null> {
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

/** What the work changed beside code and tests, and the check may go by. */
export async function besideIn(
  workspace: Texts,
  commit: GitSha,
  { rowOf: ruleOf, named, base }: Setting,
  check: Check,
  differences: readonly Difference[],
): Promise<TakenOut | null> {
  const scripts = new Set<string>();
  for (const { path, kind } of differences)
    if (kind !== "deleted" && !/\.[^/]*$/.test(path) && (await workspace.textAt(commit, path, textBytesMax))?.startsWith("#!") === true)
      scripts.add(path);
  const binaries = new Set<string>();
  for (const { path, kind } of differences)
    if (kind === "added" && ruleOf(path) !== null && (await workspace.textAt(commit, path, binaryBytesMax)) === null) binaries.add(path);
  const [isScript, isBinary] = [(path: string) => scripts.has(path), (path: string) => binaries.has(path)];
  return besideCode({ differences, base, rowOf: ruleOf, command: check.command, used: named.used, isScript, isBinary });
}
