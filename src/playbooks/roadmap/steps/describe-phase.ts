// describe-phase: describes a roadmap's phases and a plan's tasks in text, for the prompts of their
// agents.

import type { CheckedCriterion, PlanTask, RoadmapPhase } from "../../../contracts/roadmap.ts";

/** A title and its lines; nothing if there are no lines. */
const titledList = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [title, ...lines];
const oneLine = (words: readonly string[]): readonly string[] =>
  words.length === 0 ? [] : [words.join(", ")];

/** `1. the tests pass :: npm test (returns 0)` */
function criterionLine({ text, command, expect }: CheckedCriterion, index: number): string {
  if (command === null) return `${index + 1}. ${text}`;
  const expectation = expect === null ? "" : ` (${describeExpectation(expect)})`;
  return `${index + 1}. ${text} :: ${command}${expectation}`;
}

function describeExpectation(expect: NonNullable<CheckedCriterion["expect"]>): string {
  if (expect.kind === "text") return `expect ${expect.text}`;
  return expect.kind === "at_least"
    ? `returns at least ${expect.count}`
    : `returns ${expect.count}`;
}

export function describePhase({
  id,
  name,
  goal,
  depends_on,
  requirements,
  success_criteria,
}: RoadmapPhase): string {
  return [
    `Phase ${id}: ${name}`,
    `Goal: ${goal}`,
    ...titledList("Depends on:", oneLine(depends_on)),
    ...titledList("Requirements:", oneLine(requirements)),
    ...titledList("Success criteria:", success_criteria.map(criterionLine)),
  ].join("\n");
}

export function describeTask({
  title,
  files,
  action,
  verify,
  done,
  requirements,
}: PlanTask): string {
  return [
    title,
    ...titledList("Files:", files),
    ...titledList("Action:", [action]),
    ...titledList("Verify:", verify.map(criterionLine)),
    ...titledList("Done when:", [done]),
    ...titledList("Requirements:", oneLine(requirements)),
  ].join("\n");
}
