// unrelated-tests: finds new tests that compare the result of one of the work's functions with a
// literal, and pass whatever that function returns: they test something else, a mock or a copy of
// it. Pure, except for the question.
//
// Invariants:
//   H1. Only if certain: the function returns a value made for this run, the test is reported to
//       have run and passed, and what it compares is the call itself, of a name imported from the
//       work's file.
//   H2. Tests of other things (that nothing is thrown, that an argument is not modified, that an
//       order does not matter) compare no result with a literal, and are not meant.

import { listSome } from "../../../kit/list-some.ts";
import { detectLanguage } from "../../protected/kinds.ts";
import { isNameOfTest, type TestCase } from "../source-text/test-cases.ts";
import { findComparedValues } from "../broken-expectations/assertion-flips.ts";
import { findImports } from "../source-text/expected-value-sources.ts";
import { type MutatedFunctions, listFunctions } from "../questions/mutations.ts";
import { isWrittenOut } from "../broken-expectations/near-values.ts";
import type { Observed } from "../broken-expectations/noticed-flips.ts";
import type { QuestionContext } from "../questions/question-context.ts";

/** `textOf`: the whole file of a test. */
export function findUnrelated(
  { functions, cases }: MutatedFunctions,
  { failed, passedNames = new Set() }: Observed,
  textOf: (path: string) => string,
): readonly TestCase[] {
  const [failedNames, passed] = [[...failed], [...passedNames]];
  return cases.filter((test) => {
    const family = detectLanguage(test.path);
    if (family !== "js" && family !== "py") return false;
    if (
      failedNames.some((name) => isNameOfTest(name, test)) ||
      !passed.some((name) => isNameOfTest(name, test))
    ) {
      return false;
    } // H1

    const text = textOf(test.path);
    const roots = findImportedNames(test.path, text, new Set(functions.map(({ path }) => path)));

    const isAsked = (actual: string): boolean =>
      functions.some(({ name }) => {
        const root =
          /^(?:await\s+|new\s+)*(?:self\.|this\.)?([A-Za-z_$][\w$]*)/.exec(actual)?.[1] ?? "";
        const last = /([A-Za-z_$][\w$]*)\s*\((?:[^()]|\([^()]*\))*\)\s*$/.exec(actual)?.[1];
        return last === name && roots.has(root);
      });

    return findComparedValues(test.path, test.text).some(
      ({ actual, expected }) =>
        expected !== null && isWrittenOut(expected) && isAsked(actual.trim()),
    );
  });
}

/** Names that a test file imports from these, and variables that it made with them. */
function findImportedNames(
  path: string,
  text: string,
  sources: ReadonlySet<string>,
): ReadonlySet<string> {
  const roots = new Set(
    findImports(path, text)
      .filter(({ from }) => from.some((candidate) => sources.has(candidate)))
      .flatMap(({ names }) => names),
  );

  for (const [, name = "", from = ""] of text.matchAll(
    /\b(?:self\.|this\.)?([A-Za-z_$][\w$]*)\s*=(?![=>])\s*([^;\n]+)/g,
  )) {
    if (
      // A name at the start of an expression, also a spread one: `total` of `total(1).value`,
      // `user` of `...user`.
      (from.match(/(?<=\.\.\.|(?<![.\w$]))[A-Za-z_$][\w$]*/g) ?? []).some((word) => roots.has(word))
    ) {
      roots.add(name);
    }
  }

  return roots;
}

export function describeUnrelated(tests: readonly TestCase[], functions: string): string {
  const names = tests.map(({ name, path, from }) => `${name} (${path}:${from})`);
  return `new tests pass whatever ${functions} answers, though they compare that: ${listSome(names)}`;
}

export async function findUnrelatedTests({
  mutant,
  lab: { textAt },
}: QuestionContext): Promise<string | null> {
  if (mutant === null) return null;
  const texts = new Map<string, string>();

  for (const path of new Set(mutant.change.cases.map((test) => test.path))) {
    texts.set(path, (await textAt("work", path)) ?? "");
  }

  const unrelated = findUnrelated(mutant.change, mutant.observed, (path) => texts.get(path) ?? "");
  return unrelated.length === 0
    ? null
    : describeUnrelated(unrelated, listFunctions(mutant.change.functions));
}
