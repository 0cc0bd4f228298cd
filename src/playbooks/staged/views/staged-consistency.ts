// staged-consistency: reports contradictions between the fields and sections of a staged state file.

import { type CurrentStep, retriesMax, type StagedState } from "../../../contracts/staged-state.ts";
import { shown } from "../../../kit/finding.ts";
import {
  findSection,
  parseCells,
  parseField,
  type Report,
  type Section,
} from "./staged-state-lines.ts";
import { stagedSteps } from "./staged-steps.ts";

type Sections = readonly Section[];

export function checkConsistency(
  current: CurrentStep,
  { blockers, completed }: Pick<StagedState, "blockers" | "completed">,
  sections: Sections,
  report: Report,
): void {
  const steps = Object.hasOwn(stagedSteps, current.flow) ? stagedSteps[current.flow] : undefined;
  if (steps === undefined) {
    const flows = Object.keys(stagedSteps).join(" or ");
    const message = `found the flow ${shown(current.flow)}, expected ${flows}`;
    report("warning", fieldLine(sections, "flow"), "current_flow", message);
  } else {
    checkCurrentName(current, steps, sections, report);
  }

  checkRetries(current, blockers, sections, report);
  if (steps !== undefined) checkCompletedNames(completed, steps, sections, report);
}

function checkCurrentName(
  { step, name }: CurrentStep,
  steps: readonly string[],
  sections: Sections,
  report: Report,
): void {
  const expectedName = typeof step === "number" ? steps[step - 1] : undefined;
  if (expectedName === undefined || expectedName === name) return;
  const message = `found the name ${shown(name)} for step ${step}, expected ${expectedName}`;
  report("warning", fieldLine(sections, "name"), "current_name", message);
}

function checkRetries(
  { status, retry_count }: CurrentStep,
  blockers: StagedState["blockers"],
  sections: Sections,
  report: Report,
): void {
  if (retry_count !== retriesMax) return;
  if (status !== "failed") {
    const message = `found retry_count: ${retriesMax} and status: ${status}, expected failed`;
    report("warning", fieldLine(sections, "retry_count"), "retries_spent", message);
  } else if (blockers.length === 0) {
    const message = "found a step that failed three times and no blocker that says so";
    report("error", sectionLine(sections, "Blockers"), "failed_without_blocker", message);
  }
}

function checkCompletedNames(
  completed: StagedState["completed"],
  steps: readonly string[],
  sections: Sections,
  report: Report,
): void {
  for (const { step, name } of completed) {
    const expectedName = steps[step - 1];
    if (expectedName === name) continue;
    const expected = expectedName ?? `at most ${steps.length} steps`;
    const message = `found ${shown(name)} as step ${step}, expected ${expected}`;
    report("warning", rowLine(sections, step, name), "completed_name", message);
  }
}

/** The line of a section's heading; 1 if there is no such section. */
const sectionLine = (sections: Sections, title: string): number =>
  findSection(sections, title)?.line ?? 1;

/** The line of a field of Current Step; that of the section if the field is missing. */
function fieldLine(sections: Sections, name: string): number {
  const section = findSection(sections, "Current Step");
  const line = section?.lines.find((candidate) => parseField(candidate)?.name === name);
  return line?.number ?? section?.line ?? 1;
}

/** The line of a row of Completed Steps; that of the section if the row is missing. */
function rowLine(sections: Sections, step: number, name: string): number {
  const section = findSection(sections, "Completed Steps");
  const line = section?.lines.find((candidate) => {
    const cells = parseCells(candidate);
    return Number(cells?.[0]) === step && cells?.[1] === name;
  });
  return line?.number ?? section?.line ?? 1;
}
