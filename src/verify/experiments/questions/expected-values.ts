// expected-values: asks about the code from which tests take what they expect: modules that the
// work changed and that tests only import expected values from, and functions beside the tests that
// they compare with (source-text/expected-value-sources.ts).

import type { Difference } from "../../../ports/workspace.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { createNonce } from "../broken-expectations/choose-flips.ts";
import {
  findExpectedSources,
  describeExpectedSources,
  findReferences,
  describeUnasked,
} from "../source-text/expected-value-sources.ts";
import {
  type QuestionContext,
  isTest,
  type RaisedQuestion,
  readTests,
  passesAsBefore,
} from "./question-context.ts";
import { listFunctions, mutateFunctions, findUnnoticed } from "./mutations.ts";

/** Modules that the work changed and that tests of the base import only expected values from. */
export async function askExpectedSources(context: QuestionContext): Promise<RaisedQuestion | null> {
  const { rules, differences } = context;
  const isCode = ({ path, kind }: Difference): boolean =>
    kind === "changed" && rules.rowOf(path) === null && isProgramText(path);
  const changed = new Set(differences.filter(isCode).map(({ path }) => path));
  const paths = changed.size === 0 ? [] : findExpectedSources(await readTests(context), changed);

  return paths.length === 0
    ? null
    : { whether: passesAsBefore(paths), change: { paths }, gap: describeExpectedSources(paths) };
}

/**
 * Whether tests notice when unchanged functions beside them, which they compare with, return
 * something else.
 */
export async function findUnaskedReferences(context: QuestionContext): Promise<string | null> {
  const { rules, differences, lab } = context;
  const changed = new Set(differences.map(({ path }) => path));
  const tests = await readTests(context);
  const isBesideTests = (path: string): boolean =>
    rules.base.has(path) && !changed.has(path) && isTest(context, path);
  const found = findReferences(tests, { has: isBesideTests });

  const sources = await Promise.all(
    [...found.keys()].map(async (path) => ({
      path,
      was: null,
      is: (await lab.textAt("work", path)) ?? "",
    })),
  );
  const reference = mutateFunctions(
    sources,
    tests.map(({ path, text }) => ({ path, was: null, is: text })),
    createNonce(lab.seed),
    (path, name) => found.get(path)?.has(name) === true,
  );
  if (reference === null) return null;
  const observed = await context.runWith(
    `its tests compare with ${listFunctions(reference.functions)}`,
    { edits: reference.edits },
  );
  const unasked = observed === null ? null : findUnnoticed(reference, lab.now, observed);

  return unasked === null || unasked.length === 0 ? null : describeUnasked(listFunctions(unasked));
}
