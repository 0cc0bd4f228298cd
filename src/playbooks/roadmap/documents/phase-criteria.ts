// phase-criteria: merges the criteria of a phase from the roadmap and its plan, each once, with the
// command that decides it.
//
// Invariants:
//   K1. The user's command for a criterion stays, whatever a plan gives for the same criterion.
//   K2. The same documents give the same ids, so that earlier results still belong to their
//       criterion.
//   K3. Once there is a plan, criteria with the same command and expectation become one; without
//       one the roadmap's stay as they are written.

import type { Check, Expectation } from "../../../contracts/evidence.ts";
import type { CheckedCriterion, Plan, RoadmapPhase } from "../../../contracts/roadmap.ts";
import { shown, type Finding } from "../../../kit/finding.ts";
import { isSameText } from "../../../documents/same-text.ts";

export type PhaseCriterion = {
  readonly id: string;
  readonly text: string;
  /** Null: nothing runnable decides it yet. */
  readonly command: string | null;
  readonly expect: Expectation | null;
  readonly source: string;
  /** Which document the command is from; `roadmap` as well if there is none yet. */
  readonly commandAuthor: "roadmap" | "plan";
  /** Whether the roadmap has it; else the plan adds it. */
  readonly isRequested: boolean;
  /** The task it belongs to; null for a criterion of the phase itself. */
  readonly task: string | null;
};

export type LocatedPlan = { readonly path: string; readonly plan: Plan };
type Phase = Pick<RoadmapPhase, "id" | "success_criteria">;

const titleCharsMax = 500;

/**
 * Every criterion of a phase: those of the roadmap, then those the plan adds, then the checks of
 * each automatic task.
 */
export function mergePhaseCriteria(
  phase: Phase,
  roadmapPath: string,
  locatedPlan: LocatedPlan | null,
): readonly PhaseCriterion[] {
  const planCriterionByIndex =
    locatedPlan === null
      ? new Map<number, CheckedCriterion>()
      : matchPlanCriteria(phase, locatedPlan.plan);

  const roadmapCriteria = phase.success_criteria.map((criterion, index): PhaseCriterion => {
    const id = `criterion:${phase.id}.${index + 1}`; // K2
    const planCriterion = planCriterionByIndex.get(index);
    if (criterion.command !== null || planCriterion === undefined || locatedPlan === null) {
      return {
        ...withSource(criterion, roadmapPath),
        id,
        commandAuthor: "roadmap",
        isRequested: true,
        task: null,
      };
    } // K1

    return {
      ...withSource(planCriterion, locatedPlan.path),
      id,
      text: criterion.text,
      commandAuthor: "plan",
      isRequested: true,
      task: null,
    };
  });
  if (locatedPlan === null) return roadmapCriteria;
  const matchedCriteria = new Set(planCriterionByIndex.values());

  const planCriteria = locatedPlan.plan.criteria
    .filter((criterion) => !matchedCriteria.has(criterion))
    .map((criterion, index) =>
      fromPlan(criterion, locatedPlan.path, {
        id: `criterion:${phase.id}.plan-${index + 1}`,
        task: null,
      }),
    );

  const isUsersOwn = (text: string): boolean =>
    roadmapCriteria.some(
      (criterion) => criterion.commandAuthor === "roadmap" && isSameText(criterion.text, text),
    );

  const taskCriteria = listTaskCriteria(phase.id, locatedPlan).filter(
    ({ text }) => !isUsersOwn(text),
  ); // K1
  return dropDuplicates([...roadmapCriteria, ...planCriteria, ...taskCriteria]);
}

/** The criteria of the plan's automatic tasks. */
function listTaskCriteria(phaseId: string, { plan, path }: LocatedPlan): readonly PhaseCriterion[] {
  const autoTasks = plan.tasks.filter(({ type }) => type === "auto");
  return autoTasks.flatMap(({ id: task, verify }) =>
    verify.map((criterion, index) =>
      fromPlan(criterion, path, { id: taskCriterionId(phaseId, task, index), task }),
    ),
  );
}

const fromPlan = (
  criterion: CheckedCriterion,
  path: string,
  ids: Pick<PhaseCriterion, "id" | "task">,
): PhaseCriterion => ({
  ...withSource(criterion, path),
  ...ids,
  commandAuthor: "plan",
  isRequested: false,
});

/** The id of a task's criterion: the same for the same documents. K2 */
export const taskCriterionId = (phase: string, task: string, index: number): string =>
  `criterion:${phase}.${task}.${index + 1}`;

const withSource = (
  { text, command, expect, line }: CheckedCriterion,
  path: string,
): Pick<PhaseCriterion, "text" | "command" | "expect" | "source"> => ({
  text,
  command,
  expect,
  source: `${path}:${line}`,
});

/**
 * K3: keeps the first of several criteria with the same command and expectation, or without a
 * command and with the same text.
 */
function dropDuplicates(criteria: readonly PhaseCriterion[]): readonly PhaseCriterion[] {
  const criteriaByKey = new Map<string, PhaseCriterion>();
  for (const criterion of criteria) {
    const { text, command, expect } = criterion;
    const key = command === null ? `text ${text}` : `command ${command} ${JSON.stringify(expect)}`;
    if (!criteriaByKey.has(key)) criteriaByKey.set(key, criterion);
  }

  return [...criteriaByKey.values()];
}

/**
 * The plan's criterion for each of the roadmap's, by index: one with the same text, or at the same
 * position if both lists are equally long.
 */
function matchPlanCriteria(phase: Phase, plan: Plan): Map<number, CheckedCriterion> {
  const planCriterionByIndex = new Map<number, CheckedCriterion>();
  const isParallel = plan.criteria.length === phase.success_criteria.length;
  const autoTasks = plan.tasks.filter(({ type }) => type === "auto");
  const candidates = [...plan.criteria, ...autoTasks.flatMap(({ verify }) => verify)];

  for (const [index, { text }] of phase.success_criteria.entries()) {
    const withSameText = candidates.find(
      (criterion) => criterion.command !== null && isSameText(criterion.text, text),
    );

    const atSameIndex = isParallel ? plan.criteria[index] : undefined;
    const planCriterion = withSameText ?? (atSameIndex?.command === null ? undefined : atSameIndex);
    if (planCriterion !== undefined) planCriterionByIndex.set(index, planCriterion);
  }

  return planCriterionByIndex;
}

/** Findings about the plan for criteria of the roadmap that still have no command. */
export function reportMissingCommands(
  criteria: readonly PhaseCriterion[],
  planPath: string,
): readonly Finding[] {
  return criteria
    .filter(({ commandAuthor, command }) => commandAuthor === "roadmap" && command === null)
    .map(({ text, source }) => ({
      file: planPath,
      line: 1,
      column: 1,
      path: "success_criteria",
      rule: "criterion_without_command",
      message: `found no command for the criterion ${shown(text)} (${source}), expected it under **Success Criteria** as \`text :: command\``,
      severity: "error" as const,
    }));
}

/**
 * The criteria that have a command, as checks. If the user gave commands, those of the plan are
 * only additions.
 */
export function buildChecks(criteria: readonly PhaseCriterion[]): Check[] {
  const hasUserCommand = criteria.some(
    ({ commandAuthor, command }) => commandAuthor === "roadmap" && command !== null,
  );

  const checks: Check[] = [];
  for (const { id, text, command, expect, source, isRequested } of criteria) {
    if (command === null) continue;
    checks.push({
      id,
      kind: "criterion",
      title: text.slice(0, titleCharsMax),
      command,
      source,
      ...(expect === null ? {} : { expect }),
      ...(hasUserCommand && !isRequested ? { extra: true } : {}),
    });
  }

  return checks;
}
