// examples-as-before: asks whether the examples in the code that the work changed still pass as
// they were before the work.

import {
  areExamplesRun,
  describeChangedExamples,
  restoreExamples,
} from "../broken-expectations/examples.ts";
import type { Edit } from "../lab.ts";
import { type QuestionContext, readSources, type RaisedQuestion } from "./question-context.ts";

export async function askExamplesAsBefore(
  context: QuestionContext,
): Promise<RaisedQuestion | null> {
  const { rules, lab } = context;
  const reportedNames = [...(lab.before?.failed ?? []), ...(lab.before?.passedNames ?? [])];

  const edits = (await readSources(context)).flatMap(({ path, was, is }): readonly Edit[] => {
    const isAsked = areExamplesRun(path, [...rules.named.usedCommands, is], reportedNames);
    const text = was === null || !isAsked ? null : restoreExamples(path, was, is);
    return text === null ? [] : [{ path, text }];
  });
  const paths = edits.map(({ path }) => path);
  const whether = `the examples of ${paths.join(", ")} pass as they were before the work`;

  return edits.length === 0
    ? null
    : { whether, change: { edits }, gap: describeChangedExamples(paths) };
}
