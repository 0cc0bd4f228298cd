// own-data: recognises data that the code reads and that is code by another name: rules,
// translations, rates. What is asked of code is asked of it too (inputs near those of tests); a
// table of the tests' answers is none of it. Pure, except for the question.
//
// Invariants:
//   O1. Code names the file, tests don't: what tests read may be what they compare with.
//   O2. It is no table of what tests ask and expect: fewer than two of its values stand in the
//       tests, or at most half of all.

import {
  type TextFile,
  type QuestionContext,
  readChanged,
  isJudging,
  readAllTests,
  readSources,
  readTests,
} from "./question-context.ts";
import { isProgramText } from "../../protected/kinds.ts";

const dataFile = /\.(?:jsonl?|ya?ml|toml|csv|tsv|txt|xml|ini|properties)$/;

const valuesMin = 2;

export function isOwnData(
  { path, text }: TextFile,
  code: readonly TextFile[],
  tests: readonly TextFile[],
): boolean {
  const name = path.split("/").at(-1) ?? path;
  if (!dataFile.test(path) || tests.some((test) => test.text.includes(name))) return false;
  const isNamed = code.some((file) =>
    new RegExp(`(?<=["'\`/\\s])${escapePattern(name)}(?=["'\`\\s]|$)`, "m").test(file.text),
  ); // O1
  if (!isNamed) return false;
  const written = new Set(tests.flatMap((test) => listValues(test.text)));
  const values = listValues(
    /\.(?:jsonl?)$/.test(path) ? text : text.replaceAll(/[^\s,;|:=]+/g, '"$&"'),
  );
  const known = values.filter((value) => written.has(value));

  return known.length < valuesMin || 2 * known.length <= values.length; // O2
}

/** Texts in quotes and numbers, each once. */
const listValues = (text: string): readonly string[] => [
  ...new Set(
    [
      ...text.matchAll(
        /"((?:[^"\\\n]|\\.)+)"|'((?:[^'\\\n]|\\.)+)'|`([^`\\\n$]+)`|(?<![\w.])(-?\d+(?:\.\d+)?)/g,
      ),
    ].map(([, double, single, raw, number]) => double ?? single ?? raw ?? number ?? ""),
  ),
];

const escapePattern = (text: string): string =>
  text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/**
 * Data that the work wrote for its code to read (own-data.ts), and that the command doesn't name.
 */
export async function findOwnData(context: QuestionContext): Promise<ReadonlySet<string>> {
  const { check, rules } = context;
  const isCandidate = (path: string): boolean =>
    !isProgramText(path) &&
    rules.rowOf(path) === null &&
    !check.command.includes(path.split("/").at(-1) ?? path);
  const data = await readChanged(context, isCandidate);
  if (data.length === 0) return new Set();
  const changedCode = (await readSources(context)).map(({ path, is }) => ({ path, text: is }));
  const isStarted = (path: string): boolean =>
    rules.named.usedCommands.some((command) => command.includes(path)); // it may be what judges
  const code = [
    ...changedCode,
    ...(await readTests(context, (path) => !isJudging(context, path) && !isStarted(path))),
  ];

  const tests = await readAllTests(context);
  return new Set(
    data
      .filter(({ path, is }) => isOwnData({ path, text: is }, code, tests))
      .map(({ path }) => path),
  );
}
