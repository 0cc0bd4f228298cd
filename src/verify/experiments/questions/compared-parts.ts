// compared-parts: finds tests that expect an object of one of the work's own classes and don't
// notice when a part of it is wrong (expected-parts.ts).

import { isProgramText } from "../../protected/kinds.ts";
import { findDecidingTests, findOmittableTests } from "../broken-expectations/candidates.ts";
import { createNonce } from "../broken-expectations/choose-flips.ts";
import {
  findDefinedTypes,
  createPartFlips,
  describeUncomparedParts,
} from "../broken-expectations/expected-parts.ts";
import { applyFlips, type Flip } from "../broken-expectations/flip.ts";
import { findNoticedFlips } from "../broken-expectations/noticed-flips.ts";
import type { Edit } from "../lab.ts";
import type { TestCase } from "../source-text/test-cases.ts";
import { type QuestionContext, readSources } from "./question-context.ts";

const roundsMax = 4;
const whether = "its tests compare all parts of what they expect";

export async function findUncomparedParts(context: QuestionContext): Promise<string | null> {
  const { check, lab } = context;
  const classes = await findOwnClasses(context);
  if (classes.size === 0) return null;

  const { tests, textOf } = await findDecidingTests(check, lab);
  const paths = new Set(tests.map(({ test }) => test.path));
  const texts = new Map([...paths].map((path) => [path, textOf(path)]));
  const expectations = [...texts].flatMap(([path, text]) =>
    createPartFlips(path, text, classes, createNonce(lab.seed)),
  );

  const trials = tests.flatMap(({ test }) => {
    const parts = expectations.find(([first]) => first !== undefined && isInTest(first, test));
    return parts === undefined ? [] : [{ test, parts }];
  });
  if (trials.length === 0) return null;

  const { omitted } = await findOmittableTests(check, lab);
  const silent = await findSilentTests(context, trials, texts, omitted);
  return silent.length === 0 ? null : describeUncomparedParts(silent, [...classes]);
}

/** The classes that the work's own code defines. */
async function findOwnClasses(context: QuestionContext): Promise<ReadonlySet<string>> {
  const sources = await readSources(context);
  const programs = sources.filter(({ path }) => isProgramText(path));
  return new Set(programs.flatMap(({ is }) => findDefinedTypes(is)));
}

const isInTest = ({ path, line }: Flip, test: TestCase): boolean =>
  path === test.path && test.from <= line && line <= test.to;

/** A test, and the parts of the object it expects, each made wrong. */
type Trial = { readonly test: TestCase; readonly parts: readonly Flip[] };

/** The names of the tests that pass with a part of what they expect made wrong. */
async function findSilentTests(
  context: QuestionContext,
  trials: readonly Trial[],
  texts: ReadonlyMap<string, string>,
  omitted: readonly string[],
): Promise<readonly string[]> {
  const silent = new Set<string>();

  for (let round = 0; round < roundsMax; round += 1) {
    const flips = trials.flatMap(({ parts }) => parts[round] ?? []);
    // A run without the omitted files may confirm, never accuse: what it missed is tried again with
    // all files.
    const suspected = await findMissedFlips(context, flips, texts, omitted);
    const missed = await findMissedFlips(context, suspected, texts, []);

    for (const { test, parts } of trials) {
      if (parts.some((flip) => missed.includes(flip))) silent.add(test.name);
    }
  }

  return [...silent];
}

/** Runs the check with these flips; those that were run and that no test noticed. */
async function findMissedFlips(
  { lab, runWith }: QuestionContext,
  flips: readonly Flip[],
  texts: ReadonlyMap<string, string>,
  without: readonly string[],
): Promise<readonly Flip[]> {
  const edits = [...texts].flatMap(([path, text]): readonly Edit[] => {
    const flipsInFile = flips.filter((flip) => flip.path === path);
    const edited = flipsInFile.length === 0 ? null : applyFlips(text, flipsInFile);
    return edited === null ? [] : [{ path, text: edited }];
  });
  if (edits.length === 0) return [];

  const observed = await runWith(whether, { edits, without });
  if (observed === null) return [];
  const { missed, unloaded } = findNoticedFlips(flips, lab.now, observed, texts);
  return missed.filter((flip) => !unloaded.includes(flip));
}
