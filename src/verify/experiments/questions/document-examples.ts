// document-examples: finds out whether the work reads its answers from the examples (`>>>
// words(7)`) that Python's doctest runs in documents, or in docstrings that the work did not write.
// Their expected outputs are changed: code that computes then disagrees, code that reads the
// answers there still agrees.
//
// Invariants:
//   E1. Nothing is said about examples that are not run: with another call in their place the check
//       has to fail.
//   E2. All are changed in one run, and then a few alone: code may read one answer and compute
//       another.

import { listSome } from "../../../kit/list-some.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { createNonce, shuffle } from "../broken-expectations/choose-flips.ts";
import type { DoctestExample } from "../broken-expectations/doctests.ts";
import { findDoctestExamples } from "../broken-expectations/examples.ts";
import { type Edit, filesReadMax } from "../lab.ts";
import {
  isJudging,
  type QuestionContext,
  readAllTests,
  readSources,
  type TextFile,
} from "./question-context.ts";

/** How many examples are changed alone. */
const alonesMax = 2;
/** Settings in which pytest may be told to run examples. */
const settings = ["pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini", "conftest.py"];
const documentFile = /\.(?:md|mdx|rst|txt|adoc)$/;

export const describeAnswersInExamples = (paths: readonly string[]): string =>
  `it passes as well with other outputs in the examples of ${listSome(paths)}: the new code may read its answers from there`;

export async function findAnswersInExamples(context: QuestionContext): Promise<string | null> {
  if (
    !(await readSources(context)).some(({ path }) => path.endsWith(".py")) ||
    !(await areDoctestsRun(context))
  ) {
    return null;
  }

  const nonce = createNonce(context.lab.seed);
  const files = (await readDocuments(context)).flatMap((file) => {
    const examples = findDoctestExamples(file.path, file.text, nonce);
    return examples.length === 0 ? [] : [{ file, examples }];
  });
  if (files.length === 0) return null;
  if (await isUnnoticed(context, files)) {
    return describeAnswersInExamples(files.map(({ file }) => file.path));
  }

  const alones = shuffle(
    files.flatMap(({ file, examples }) =>
      examples.map((example) => ({ file, examples: [example] })),
    ),
    context.lab.seed,
    ({ file, examples }) => `${file.path}:${examples[0]?.line}`,
  );
  if (alones.length === 1) return null;
  for (const alone of alones.slice(0, alonesMax))
  // E2
  {
    if (await isUnnoticed(context, [alone])) {
      return describeAnswersInExamples([`${alone.file.path}:${alone.examples[0]?.line}`]);
    }
  }

  return null;
}

/**
 * Whether tests, commands or settings have the word: if no example is run after all, E1 finds out.
 */
async function areDoctestsRun(context: QuestionContext): Promise<boolean> {
  const { check, lab } = context;
  const configured = await Promise.all(
    settings.map(async (path) => (await lab.textAt("work", path)) ?? ""),
  );

  const tests = (await readAllTests(context)).map(({ text }) => text);
  return [check.command, ...lab.commands, ...configured, ...tests].some((text) =>
    /doctest|DocFileSuite|DocTestSuite/.test(text),
  );
}

/**
 * Documents, and modules with docstrings that the work did not change: its own are broken like
 * tests (broken-expectations/examples.ts).
 */
async function readDocuments(context: QuestionContext): Promise<readonly TextFile[]> {
  const { rules, lab, differences } = context;
  const changed = new Set(differences.map(({ path }) => path));
  const isDocument = (path: string): boolean => documentFile.test(path) && !isProgramText(path);
  const isModule = (path: string): boolean =>
    path.endsWith(".py") && !changed.has(path) && !isJudging(context, path);
  const all = [...rules.base];
  const paths = [...all.filter(isDocument), ...all.filter(isModule)].slice(0, filesReadMax);
  const texts = await Promise.all(
    paths.map(async (path) => ({ path, text: (await lab.textAt("work", path)) ?? "" })),
  );

  return texts.filter(({ text }) => text.includes(">>>"));
}

type Examples = { readonly file: TextFile; readonly examples: readonly DoctestExample[] };

/** Whether the check passes with other outputs, and fails with other calls (E1). */
async function isUnnoticed(
  { runWith }: QuestionContext,
  files: readonly Examples[],
): Promise<boolean> {
  const change = (part: "otherOutput" | "otherCall"): readonly Edit[] =>
    files.map(({ file: { path, text }, examples }) => {
      const lines = examples.reduce<readonly string[]>(
        (changed, example) => example[part](changed),
        text.split("\n"),
      );

      return { path, text: lines.join("\n") };
    });

  const paths = files.map(({ file }) => file.path);
  const observed = await runWith(
    `it fails with other outputs in the examples of ${listSome(paths)}`,
    { edits: change("otherOutput") },
  );
  if (observed?.passed !== true) return false;

  return (await runWith(null, { edits: change("otherCall") }))?.passed === false;
}
