// read-plan: reads the tasks of a phase from its PLAN.md, without those already done.

import type { Check } from "../../../contracts/evidence.ts";
import type { PlanTask } from "../../../contracts/roadmap.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import { taskCriterionId } from "../documents/phase-criteria.ts";
import { lintPlan } from "../documents/plan-lint.ts";
import { planWaves } from "../documents/plan-waves.ts";
import { findingText } from "../../../kit/finding.ts";
import type { TaskFound } from "../../../ports/functions.ts";
import { aboutTask } from "./about.ts";
import type { RoadmapParts } from "./parts.ts";
import { planAt, type PlanFound } from "./phase-plan.ts";
import { findPhase } from "./recorded.ts";

const aboutCharsMax = 16_000;

/** The reader `plan`: the tasks of the phase's plan on the run's branch, each behind the wave before its own. */
export function readPlanTasks(
  parts: RoadmapParts,
): (state: RunView, cursor: CursorView) => Promise<{ readonly tasks: readonly TaskFound[] } | { readonly problem: string }> {
  return async (state, { phase }) => {
    const found = await planAt(parts, state, phase, state.tip.commit);
    if (found === null) return { problem: `Phase ${phase} has no PLAN.md on the run's branch.` };
    const requirements = findPhase(parts, state, phase)?.requirements ?? [];
    const errors = [...found.findings, ...lintPlan(found.path, found.plan, { requirements })].filter(
      ({ severity }) => severity === "error",
    );
    if (errors.length > 0) return { problem: errors.map(findingText).join("; ") };
    return { tasks: withoutDone(phaseTasks(phase, found), findTasksDone(state, phase)) };
  };
}

/** What another tool's run had done and committed before this one continued it; a replan plans all of it again. */
function findTasksDone({ drafted, cursors }: RunView, phase: string): ReadonlySet<string> {
  const isFirst = (cursors[phase]?.ended["execute"] ?? 0) === 0 && cursors[phase]?.visit === 1;
  return new Set(isFirst ? drafted.resumes?.phases.find(({ id }) => id === phase)?.tasks_done : []);
}

function withoutDone(tasks: readonly TaskFound[], done: ReadonlySet<string>): readonly TaskFound[] {
  if (done.size === 0) return tasks;
  return tasks.filter(({ id }) => !done.has(id)).map((task) => ({ ...task, after: task.after.filter((id) => !done.has(id)) }));
}

/** Waves are expressed as dependencies of tasks: sorting tasks by them yields the same waves. */
export function phaseTasks(phase: string, { plan, path }: Pick<PlanFound, "plan" | "path">): readonly TaskFound[] {
  const byId = new Map(plan.tasks.map((task) => [task.id, task]));
  let before: readonly string[] = [];
  const tasks: TaskFound[] = [];
  for (const wave of planWaves(plan.tasks)) {
    for (const id of wave) {
      const task = byId.get(id);
      if (task !== undefined) tasks.push(taskFound(phase, path, task, before));
    }
    before = wave;
  }
  return tasks;
}

function taskFound(phase: string, path: string, task: PlanTask, before: readonly string[]): TaskFound {
  const checks = phaseChecks(phase, path, task);
  return {
    id: task.id,
    files: [...task.files],
    after: [...new Set([...before, ...task.after])],
    title: task.title,
    type: task.type,
    about: aboutTask(task).slice(0, aboutCharsMax),
    ...(checks.length === 0 ? {} : { checks }),
  };
}

const phaseChecks = (phase: string, path: string, task: PlanTask): Check[] =>
  task.verify.flatMap(({ text, command, expect, line }, n) =>
    command === null
      ? []
      : [
          {
            id: taskCriterionId(phase, task.id, n),
            kind: "criterion" as const,
            title: text,
            command,
            source: `${path}:${line}`,
            ...(expect === null ? {} : { expect }),
          },
        ],
  );
