// about: describes phases and tasks for their agents.

import type { CheckedCriterion, PlanTask, RoadmapPhase } from "../../../contracts/roadmap.ts";

const titledList = (title: string, items: readonly string[]): readonly string[] => (items.length === 0 ? [] : [title, ...items]);

const criterionLine = ({ text, command, expect }: CheckedCriterion, n: number): string => {
  if (command === null) return `${n + 1}. ${text}`;
  const expectation = expect === null ? "" : ` (${describeExpectation(expect)})`;
  return `${n + 1}. ${text} :: ${command}${expectation}`;
};

function describeExpectation(expect: NonNullable<CheckedCriterion["expect"]>): string {
  if (expect.kind === "text") return `expect ${expect.text}`;
  return expect.kind === "at_least" ? `returns at least ${expect.count}` : `returns ${expect.count}`;
}

export function describePhase({ id, name, goal, depends_on, requirements, success_criteria }: RoadmapPhase): string {
  return [
    `Phase ${id}: ${name}`,
    `Goal: ${goal}`,
    ...titledList("Depends on:", depends_on.length === 0 ? [] : [depends_on.join(", ")]),
    ...titledList("Requirements:", requirements.length === 0 ? [] : [requirements.join(", ")]),
    ...titledList("Success criteria:", success_criteria.map(criterionLine)),
  ].join("\n");
}

export function describeTask({ title, files, action, verify, done, requirements }: PlanTask): string {
  return [
    title,
    ...titledList("Files:", files),
    ...titledList("Action:", [action]),
    ...titledList("Verify:", verify.map(criterionLine)),
    ...titledList("Done when:", [done]),
    ...titledList("Requirements:", requirements.length === 0 ? [] : [requirements.join(", ")]),
  ].join("\n");
}
