// plan-lint: finds mistakes in a parsed plan. Pure: runs nothing and asks no agent.
//
// Invariants:
//   P1. No rule stops at the first mistake: the planner sees all of them at once.

import type { CheckedCriterion, Plan, PlanTask } from "../../../contracts/roadmap.ts";
import { shown, type Finding, type Position } from "../../../kit/finding.ts";
import { findCycles } from "../../../documents/graph.ts";
import { openReport, type Report } from "../../../documents/report.ts";
import { whyTrivial } from "../../../documents/trivial-command.ts";

/** Phrases that sound like a check but cannot be run. */
export const prosePhrases = [
  "should work",
  "properly handles",
  "is correct",
  "works as expected",
  "functions correctly",
  "is implemented",
] as const;

/** Findings beyond those of the parser. `requirements` are those of the phase in the roadmap. P1 */
export function lintPlan(
  file: string,
  plan: Plan,
  { requirements }: { readonly requirements: readonly string[] },
): readonly Finding[] {
  const report = openReport(file);
  lintIds(plan.tasks, report);
  lintRequirements(plan, requirements, report);
  for (const task of plan.tasks) lintTask(task, report);
  lintOrder(plan.tasks, report);

  for (const [index, criterion] of plan.criteria.entries()) {
    lintCriterion(criterion, `success_criteria[${index}]`, report);
  }

  return report.findings();
}

const positionOf = ({ line }: { readonly line: number }): Position => ({ line, column: 1 });

function lintIds(tasks: readonly PlanTask[], report: Report): void {
  const tasksById = new Map<string, PlanTask>();
  for (const task of tasks) {
    const firstTask = tasksById.get(task.id);
    if (firstTask === undefined) {
      tasksById.set(task.id, task);
    } else {
      report.error(
        positionOf(task),
        `task_${task.id}`,
        "duplicate_task",
        `found a second task ${task.id}, the first is on line ${firstTask.line}; expected every id once`,
      );
    }
  }
}

function lintRequirements(plan: Plan, requirements: readonly string[], report: Report): void {
  const ids = new Set(plan.tasks.map(({ id }) => id));
  const rows = new Map(plan.requirements.map((row) => [row.id, row]));

  for (const { id, tasks, line } of plan.requirements) {
    for (const task of tasks) {
      if (!ids.has(task)) {
        report.error(
          { line, column: 1 },
          `requirements.${id}`,
          "unknown_task",
          `found task ${shown(task)} for ${id}, expected the id of a task of this plan`,
        );
      }
    }
  }

  for (const id of new Set([...requirements, ...rows.keys()])) {
    const row = rows.get(id);
    if (row?.tasks.some((task) => ids.has(task)) === true) continue;
    report.error(
      { line: row?.line ?? 1, column: 1 },
      `requirements.${id}`,
      "requirement_without_task",
      `found no task for requirement ${id}, expected at least one in the traceability table`,
    );
  }
}

/**
 * Every task needs all four parts. A checkpoint for a person changes no files, and needs no command
 * that proves it.
 */
function lintTask(task: PlanTask, report: Report): void {
  const path = `task_${task.id}`;
  const isForPerson = task.type === "checkpoint:human-verify";

  const reportMissing = (part: string, form: string): void =>
    report.error(
      positionOf(task),
      `${path}.${part}`,
      `missing_${part}`,
      `found task ${task.id} without ${part}, expected **${form}:** …`,
    );
  if (task.files.length === 0 && !isForPerson) reportMissing("files", "Files");
  if (task.action === "") reportMissing("action", "Action");
  if (task.verify.length === 0) reportMissing("verify", "Verify");
  if (task.done === "") reportMissing("done", "Done");
  if (isForPerson) return;
  for (const [index, criterion] of task.verify.entries()) {
    lintCriterion(criterion, `${path}.verify[${index}]`, report);
  }
}

function lintCriterion(
  { text, command, expect, line }: CheckedCriterion,
  path: string,
  report: Report,
): void {
  const place = { line, column: 1 };
  if (command !== null) {
    const why = whyTrivial(command, expect);
    if (why !== null) {
      report.error(
        place,
        path,
        "trivial_command",
        `found the check ${shown(command)}, which proves nothing: ${why}; expected one that fails while the work is not done`,
      );
    }

    return;
  }

  const phrase = prosePhrases.find((prosePhrase) =>
    text.toLowerCase().replaceAll(/\s+/g, " ").includes(prosePhrase),
  );

  const form = "expected `text :: command` or `text -- verified by: `command``";
  if (phrase === undefined) {
    report.error(
      place,
      path,
      "criterion_without_command",
      `found the criterion ${shown(text)} without a command, ${form}`,
    );
  } else {
    report.error(
      place,
      path,
      "prose_criterion",
      `found only prose (${shown(phrase)}) in the criterion ${shown(text)}, ${form}`,
    );
  }
}

function lintOrder(tasks: readonly PlanTask[], report: Report): void {
  const ids = new Set(tasks.map(({ id }) => id));
  const lines = new Map(tasks.map(({ id, line }) => [id, line]));

  for (const task of tasks) {
    for (const id of task.after) {
      if (!ids.has(id)) {
        report.error(
          positionOf(task),
          `task_${task.id}.after`,
          "unknown_task",
          `found task ${task.id} after ${shown(id)}, expected the id of a task of this plan`,
        );
      }
    }
  }

  const waves = new Map(tasks.map(({ id, wave }) => [id, wave]));
  for (const { id, after, line, wave } of tasks) {
    const laterTask = after.find(
      (dependency) => wave !== null && (waves.get(dependency) ?? -1) > wave,
    ); // a task without a wave may come first
    if (laterTask !== undefined) {
      report.error(
        { line, column: 1 },
        `task_${id}.after`,
        "wave_order",
        `found task ${id} of wave ${wave} after ${laterTask} of wave ${waves.get(laterTask)}, expected an earlier or the same wave`,
      );
    }
  }

  for (const cycle of findCycles(tasks, compareTaskIds)) {
    const [firstId = ""] = cycle;
    report.error(
      { line: lines.get(firstId) ?? 1, column: 1 },
      `task_${firstId}.after`,
      "task_cycle",
      `found tasks that wait for each other: ${cycle.join(" -> ")}, expected an order`,
    );
  }
}

/** Compares digits as numbers: 03-2 comes before 03-10. */
export function compareTaskIds(a: string, b: string): number {
  const [leftParts, rightParts] = [a.split(/(\d+)/), b.split(/(\d+)/)]; // 03-2: "", 03, -, 2, ""
  for (let index = 0; index < Math.max(leftParts.length, rightParts.length); index += 1) {
    const [leftPart = "", rightPart = ""] = [leftParts[index], rightParts[index]];
    if (leftPart === rightPart) continue;
    const difference = Number(leftPart) - Number(rightPart);
    if (!Number.isNaN(difference) && difference !== 0) return difference;

    return leftPart < rightPart ? -1 : 1;
  }

  return 0;
}
