// equivalent-tests: whether a check also passes with equivalent tests that look different: with an extra blank line, with expected values spelled
// otherwise, with results converted to primitives (rewrite-tests.ts). Code that then fails recognises its tests by their text, or claims
// equality with values it does not contain.
// Invariants K1 and on: verify/experiments/canary.ts.

import type { Experiment } from "../../../contracts/evidence.ts";
import { nonceOf } from "../breaks/choose-breaks.ts";
import { type Flip, placesOf, shownMax } from "../breaks/flips.ts";
import { type Edit, filesReadMax, type Laboratory, late, noticed, type Side } from "../laboratory.ts";
import type { Observed } from "../breaks/noticed-breaks.ts";
import { classesIn, rewritten, type Way } from "./rewrite-tests.ts";

const both: readonly Way[] = ["spelled", "plain"];

/** If few tests were left unbroken to compare with: equivalent tests that look slightly different must pass. */
export async function unlessWatched(lab: Laboratory, paths: readonly string[], flips: readonly Flip[]): Promise<Experiment> {
  const first = await lab.again(await rewrittenFor(lab, paths), false);
  if (first === null) return late;
  if (first.passed) return noticed(placesOf(flips));
  const told = await byWays(lab, paths, first);
  return told ?? byBlankLines(lab, paths, flips);
}

/** Which rewriting of the tests it fails with; null if none does by itself, or a tool may only dislike their style. */
async function byWays(lab: Laboratory, paths: readonly string[], first: Observed): Promise<Experiment | null> {
  const namesOf = ({ failed }: Observed): readonly string[] => [...failed].filter((name) => !lab.now.failed.has(name));
  const isCounted = (lab.now.tests?.ran ?? 0) > 0;
  if (isCounted && namesOf(first).length === 0) return null;
  for (const way of both) {
    const edits = await rewrittenFor(lab, paths, [way]);
    const alone = await lab.run("work", edits);
    if (alone === null) return late;
    if (alone.passed || (isCounted && namesOf(alone).length === 0)) continue;
    const plain = await lab.again([]); // a flaky one is not one that recognises its tests
    if (plain === null) return late;
    if (!plain.passed || (await lab.run("work", edits))?.passed !== false) return null;
    return { outcome: "differs", detail: words[way](namesOf(alone), paths) };
  }
  return null;
}

const listed = (names: readonly string[], paths: readonly string[]): string =>
  (names.length === 0 ? paths : names).slice(0, shownMax).join(", ");
const words: Readonly<Record<Way, (names: readonly string[], paths: readonly string[]) => string>> = {
  spelled: (names, paths) => `with what its tests expect written otherwise, to mean the same, it fails: ${listed(names, paths)}`,
  plain: (names, paths) => `answers equal what is expected by an equality of their own, and are not that value: ${listed(names, paths)}`,
};

async function byBlankLines(lab: Laboratory, paths: readonly string[], flips: readonly Flip[]): Promise<Experiment> {
  const edits = await placebosFor(lab, "work", paths);
  const same = await lab.again(edits);
  const plain = same?.passed === false ? await lab.again([]) : undefined;
  const twice = plain?.passed === true ? await lab.again(edits) : undefined; // a flaky test is not one that recognises its text
  if (same === null || plain === null || twice === null) return late;
  if (twice?.passed === false)
    return { outcome: "differs", detail: `with a blank line added to ${paths.slice(0, shownMax).join(", ")} it fails` }; // K4
  return noticed(placesOf(flips));
}

export async function placebosFor(lab: Laboratory, side: Side, paths: readonly string[]): Promise<readonly Edit[]> {
  const texts = await Promise.all(paths.map(async (path) => ({ path, text: await lab.textAt(side, path) })));
  return texts.flatMap(({ path, text }) => (text === null ? [] : [{ path, text: `${text}\n` }]));
}

/** The test files, as they are judged, rewritten and with an extra blank line. */
export async function rewrittenFor(lab: Laboratory, paths: readonly string[], ways: readonly Way[] = both): Promise<readonly Edit[]> {
  const was = await Promise.all(lab.changed.slice(0, filesReadMax).map((path) => lab.textAt("base", path)));
  const known = [...new Set(was.flatMap((text) => classesIn(text ?? "")))];
  const seed = nonceOf(lab.seed);
  return (await placebosFor(lab, "work", paths)).map(({ path, text }) => ({
    path,
    text: rewritten(path, text, new Set(ways), seed, known) ?? text,
  }));
}
