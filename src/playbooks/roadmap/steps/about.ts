// about: describes phases and tasks for their agents.

import type { CheckedCriterion, PlanTask, RoadmapPhase } from "../../../contracts/roadmap.ts";

const listed = (title: string, items: readonly string[]): readonly string[] => (items.length === 0 ? [] : [title, ...items]);

const criterionLine = ({ text, command, expect }: CheckedCriterion, n: number): string => {
  if (command === null) return `${n + 1}. ${text}`;
  const wanted = expect === null ? "" : ` (${expectedOf(expect)})`;
  return `${n + 1}. ${text} :: ${command}${wanted}`;
};

function expectedOf(expect: NonNullable<CheckedCriterion["expect"]>): string {
  if (expect.kind === "text") return `expect ${expect.text}`;
  return expect.kind === "at_least" ? `returns at least ${expect.count}` : `returns ${expect.count}`;
}

export function aboutPhase({ id, name, goal, depends_on, requirements, success_criteria }: RoadmapPhase): string {
  return [
    `Phase ${id}: ${name}`,
    `Goal: ${goal}`,
    ...listed("Depends on:", depends_on.length === 0 ? [] : [depends_on.join(", ")]),
    ...listed("Requirements:", requirements.length === 0 ? [] : [requirements.join(", ")]),
    ...listed("Success criteria:", success_criteria.map(criterionLine)),
  ].join("\n");
}

export function aboutTask({ title, files, action, verify, done, requirements }: PlanTask): string {
  return [
    title,
    ...listed("Files:", files),
    ...listed("Action:", [action]),
    ...listed("Verify:", verify.map(criterionLine)),
    ...listed("Done when:", [done]),
    ...listed("Requirements:", requirements.length === 0 ? [] : [requirements.join(", ")]),
  ].join("\n");
}
