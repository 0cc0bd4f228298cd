// read-plan-tasks: reads the tasks of a phase from its PLAN.md, without those already done.

import type { Check } from "../../../contracts/evidence.ts";
import type { PlanTask } from "../../../contracts/roadmap.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import { taskCriterionId } from "../documents/phase-criteria.ts";
import { lintPlan } from "../documents/plan-lint.ts";
import { planWaves } from "../documents/plan-waves.ts";
import { findingText } from "../../../kit/finding.ts";
import type { TaskFound } from "../../../ports/functions.ts";
import { describeTask } from "./describe-phase.ts";
import type { RoadmapParts } from "./roadmap-parts.ts";
import { readPlanAt, type PhasePlan } from "./phase-plan.ts";
import { findPhase } from "./recorded-documents.ts";

const aboutCharsMax = 16_000;

/**
 * The reader `plan`: the tasks of the phase's plan on the run's branch, each after the previous
 * wave.
 */
export function createPlanReader(
  parts: RoadmapParts,
): (
  state: RunView,
  cursor: CursorView,
) => Promise<{ readonly tasks: readonly TaskFound[] } | { readonly problem: string }> {
  return async (state, { phase }) => {
    const phasePlan = await readPlanAt(parts, state, phase, state.tip.commit);
    if (phasePlan === null) {
      return { problem: `Phase ${phase} has no PLAN.md on the run's branch.` };
    }

    const requirements = findPhase(parts, state, phase)?.requirements ?? [];
    const findings = [
      ...phasePlan.findings,
      ...lintPlan(phasePlan.path, phasePlan.plan, { requirements }),
    ];
    const errors = findings.filter(({ severity }) => severity === "error");
    if (errors.length > 0) return { problem: errors.map(findingText).join("; ") };

    return { tasks: withoutDone(buildTasks(phase, phasePlan), findDoneTasks(state, phase)) };
  };
}

/**
 * Tasks that another tool's run had committed before this one continued it. They count only until
 * the first execution ends.
 */
function findDoneTasks({ drafted, cursors }: RunView, phase: string): ReadonlySet<string> {
  const isFirstExecution =
    (cursors[phase]?.ended["execute"] ?? 0) === 0 && cursors[phase]?.visit === 1;
  return new Set(
    isFirstExecution ? drafted.resumes?.phases.find(({ id }) => id === phase)?.tasks_done : [],
  );
}

function withoutDone(
  tasks: readonly TaskFound[],
  doneIds: ReadonlySet<string>,
): readonly TaskFound[] {
  if (doneIds.size === 0) return tasks;
  return tasks
    .filter(({ id }) => !doneIds.has(id))
    .map((task) => ({ ...task, after: task.after.filter((id) => !doneIds.has(id)) }));
}

/**
 * Expresses the waves as dependencies of the tasks, from which the engine derives the same waves.
 */
export function buildTasks(
  phase: string,
  { plan, path }: Pick<PhasePlan, "plan" | "path">,
): readonly TaskFound[] {
  const tasksById = new Map(plan.tasks.map((task) => [task.id, task]));
  let previousWave: readonly string[] = [];
  const tasks: TaskFound[] = [];
  for (const wave of planWaves(plan.tasks)) {
    for (const id of wave) {
      const task = tasksById.get(id);
      if (task !== undefined) tasks.push(buildTask(phase, path, task, previousWave));
    }

    previousWave = wave;
  }

  return tasks;
}

function buildTask(
  phase: string,
  path: string,
  task: PlanTask,
  previousWave: readonly string[],
): TaskFound {
  const checks = buildTaskChecks(phase, path, task);
  return {
    id: task.id,
    files: [...task.files],
    after: [...new Set([...previousWave, ...task.after])],
    title: task.title,
    type: task.type,
    about: describeTask(task).slice(0, aboutCharsMax),
    ...(checks.length === 0 ? {} : { checks }),
  };
}

/** A check for each criterion of the task that has a command. */
function buildTaskChecks(phase: string, path: string, task: PlanTask): Check[] {
  const checks: Check[] = [];
  for (const [index, { text, command, expect, line }] of task.verify.entries()) {
    if (command === null) continue;
    const id = taskCriterionId(phase, task.id, index);
    const expectation = expect === null ? {} : { expect };
    checks.push({
      id,
      kind: "criterion",
      title: text,
      command,
      source: `${path}:${line}`,
      ...expectation,
    });
  }

  return checks;
}
