// answers-beside-inputs: finds out whether new code holds answers that tests expect, or programs that
// a command starts, beside their inputs (authorship/answers-in-code.ts).

import { asSet } from "../../../kit/as-set.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { findNamedPaths } from "../../protected/programs.ts";
import { findAnswersInCode, describeAnswersInCode } from "./answers-in-code.ts";
import { filesReadMax } from "../lab.ts";
import { findTestCases } from "../source-text/test-cases.ts";
import {
  type QuestionContext,
  readAllTests,
  readSources,
  type TextFile,
} from "../questions/question-context.ts";

export async function findAnswersBesideInputs(context: QuestionContext): Promise<string | null> {
  const sources = await readSources(context);
  const sourcePaths = new Set(sources.map(({ path }) => path));
  const tests = [
    ...(await readAllTests(context)).map((file) =>
      sourcePaths.has(file.path) ? readTestsInside(file) : file.text,
    ),
    ...(await readStartedPrograms(context)),
  ];

  const withoutTests = sources.map(({ path, was, is }) => ({
    path,
    was,
    is: findTestCases(path, is).reduce((text, test) => text.replace(test.text, ""), is),
  }));
  const found = findAnswersInCode(withoutTests, tests, context.goal ?? "");
  return found.length === 0 ? null : describeAnswersInCode(found);
}

/** Rust's tests may stand in the source whose answers are looked for. */
const readTestsInside = ({ path, text }: TextFile): string =>
  findTestCases(path, text)
    .map((test) => test.text)
    .join("\n");

/** Programs that checks start and that the work did not change: they may hold what is expected. */
async function readStartedPrograms({
  checkCommands,
  lab,
}: QuestionContext): Promise<readonly string[]> {
  const paths = asSet(await lab.pathsAt("base"));
  const started = [...findNamedPaths(checkCommands)].filter(
    (path) => paths.has(path) && isProgramText(path) && !lab.changedPaths.includes(path),
  );
  const texts = started.slice(0, filesReadMax).map((path) => lab.textAt("base", path));
  return (await Promise.all(texts)).filter((text) => text !== null);
}
