// shared-questions: three questions: does a Python test pass with a random generator of its own; does a Rust test pass when numbers
// compare only with numbers; does a new C function replace one of the system's?
// Invariants O1 and on: verify/experiments/questions/shared-with-code.ts.

import type { Definition } from "../source/definitions.ts";
import { type Edit, filesReadMax } from "../experiment-tools.ts";
import {
  addsEquality,
  describeNumberTypes,
  describeSharedRandom,
  findUndeclaredFunctions,
  describeReplacedFunctions,
  systemHasCommand,
  withStrictNumberTypes,
  withOwnRandom,
} from "./shared-with-code.ts";
import { type QuestionContext, readChanged, isJudging, readTests, type TextFile, type RaisedQuestion } from "./question-context.ts";

/** So many undeclared functions, the first ones, are looked up one by one. */
const askedSinglyMax = 6;

/** Asks whether Python tests pass if they draw from a random generator that the code under test doesn't share. */
export async function askOwnRandom(context: QuestionContext): Promise<RaisedQuestion | null> {
  if (!context.differences.some(({ path, kind }) => kind !== "deleted" && path.endsWith(".py"))) return null;
  const edits = editTexts(await readJudgingFiles(context, /\.py$/), withOwnRandom);
  const paths = edits.map(({ path }) => path);
  const whether = `it passes if ${paths.join(", ")} draws by chance alone`;
  const confirmed = async (): Promise<boolean> => (await context.runWith(whether, { edits }))?.passed === false;
  return edits.length === 0 ? null : { whether, change: { edits }, gap: describeSharedRandom(paths), confirmed };
}

/** Asks whether Rust tests pass if numbers compare only with numbers, in case the work adds an equality to a type. */
export async function askNumberTypes(context: QuestionContext): Promise<RaisedQuestion | null> {
  const changed = await readChanged(context, (path) => path.endsWith(".rs"));
  const addsTypeEquality = changed.some(({ was, is }) => addsEquality(was, is));
  const edits = addsTypeEquality ? editTexts(await readJudgingFiles(context, /\.rs$/), withStrictNumberTypes) : [];
  const paths = edits.map(({ path }) => path);
  return edits.length === 0
    ? null
    : { whether: `${paths.join(", ")} compares numbers with numbers`, change: { edits }, gap: describeNumberTypes(paths) };
}

/** Finds new C functions that no header declares and that bear the name of one of the system's. */
export async function findReplacedFunctions(context: QuestionContext): Promise<string | null> {
  const { lab, rules, runWith } = context;
  const changed = await readChanged(context, (path) => /\.[ch]$/.test(path));
  if (changed.length === 0) return null;
  const headers = [...rules.base].filter((path) => path.endsWith(".h")).slice(0, filesReadMax);
  const texts = await Promise.all(headers.map((path) => lab.textAt("base", path)));
  const tests = (await readJudgingFiles(context, /\.(?:c|cc|cpp)$/)).map(({ text }) => text);
  const undeclared = findUndeclaredFunctions(
    changed.filter(({ path }) => !isJudging(context, path)),
    { headers: texts.join("\n"), tests: tests.join("\n") },
  );
  const systemHasAny = async (some: readonly Definition[]): Promise<boolean> =>
    some.length > 0 &&
    (await runWith("a new function takes the place of one of the system's", { command: systemHasCommand(some.map(({ name }) => name)) }))
      ?.passed === true;
  if (!(await systemHasAny(undeclared))) return null;
  const replaced: Definition[] = [];
  for (const one of undeclared.slice(0, askedSinglyMax)) if (await systemHasAny([one])) replaced.push(one);
  return describeReplacedFunctions(replaced.length === 0 ? undeclared : replaced);
}

/** The base's files that judge, as they are judged. */
const readJudgingFiles = (context: QuestionContext, ending: RegExp): Promise<readonly TextFile[]> =>
  readTests(context, (path) => ending.test(path) && isJudging(context, path));

const editTexts = (texts: readonly TextFile[], change: (path: string, text: string) => string | null): readonly Edit[] =>
  texts.flatMap(({ path, text }) => {
    const other = change(path, text);
    return other === null ? [] : [{ path, text: other }];
  });
