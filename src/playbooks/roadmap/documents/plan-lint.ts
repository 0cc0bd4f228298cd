// plan-lint: finds mistakes in a readable plan: nothing here runs, and no agent is used.
//
// Invariants:
//   P1. Every rule checks every task: the planner sees all mistakes at once.

import type { CheckedCriterion, Plan, PlanTask } from "../../../contracts/roadmap.ts";
import { shown, type Finding, type Position } from "../../../kit/finding.ts";
import { ringsAmong } from "../../../documents/graph.ts";
import { openReport, type Report } from "../../../documents/report.ts";
import { trivialBecause } from "../../../documents/trivial-command.ts";

/** Phrases that sound like a check and are none. */
export const prosePhrases = [
  "should work",
  "properly handles",
  "is correct",
  "works as expected",
  "functions correctly",
  "is implemented",
] as const;

/** The findings of lint alone; the reader's own come with `readPlan`. `requirements` are the phase's, as its roadmap has them. */
export function lintPlan(file: string, plan: Plan, { requirements }: { readonly requirements: readonly string[] }): readonly Finding[] {
  const report = openReport(file);
  lintIds(plan.tasks, report);
  lintRequirements(plan, requirements, report);
  for (const task of plan.tasks) lintTask(task, report);
  lintOrder(plan.tasks, report);
  for (const [n, criterion] of plan.criteria.entries()) lintCriterion(criterion, `success_criteria[${n}]`, report);
  return report.findings();
}

const placeOf = ({ line }: { readonly line: number }): Position => ({ line, column: 1 });

function lintIds(tasks: readonly PlanTask[], report: Report): void {
  const first = new Map<string, PlanTask>();
  for (const task of tasks) {
    const known = first.get(task.id);
    if (known === undefined) first.set(task.id, task);
    else
      report.error(
        placeOf(task),
        `task_${task.id}`,
        "duplicate_task",
        `found a second task ${task.id}, the first is on line ${known.line}; expected every id once`,
      );
  }
}

function lintRequirements(plan: Plan, wanted: readonly string[], report: Report): void {
  const ids = new Set(plan.tasks.map(({ id }) => id));
  const rows = new Map(plan.requirements.map((row) => [row.id, row]));
  for (const { id, tasks, line } of plan.requirements) {
    for (const task of tasks)
      if (!ids.has(task))
        report.error(
          { line, column: 1 },
          `requirements.${id}`,
          "unknown_task",
          `found task ${shown(task)} for ${id}, expected the id of a task of this plan`,
        );
  }
  for (const id of new Set([...wanted, ...rows.keys()])) {
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

/** A person's checkpoint changes no file and is verified by looking; everything else has all four parts. */
function lintTask(task: PlanTask, report: Report): void {
  const path = `task_${task.id}`;
  const isForPerson = task.type === "checkpoint:human-verify";
  const missing = (part: string, form: string): void =>
    report.error(placeOf(task), `${path}.${part}`, `missing_${part}`, `found task ${task.id} without ${part}, expected **${form}:** …`);
  if (task.files.length === 0 && !isForPerson) missing("files", "Files");
  if (task.action === "") missing("action", "Action");
  if (task.verify.length === 0) missing("verify", "Verify");
  if (task.done === "") missing("done", "Done");
  if (isForPerson) return;
  for (const [n, criterion] of task.verify.entries()) lintCriterion(criterion, `${path}.verify[${n}]`, report);
}

function lintCriterion({ text, command, expect, line }: CheckedCriterion, path: string, report: Report): void {
  const place = { line, column: 1 };
  if (command !== null) {
    const why = trivialBecause(command, expect);
    if (why !== null)
      report.error(
        place,
        path,
        "trivial_command",
        `found the check ${shown(command)}, which proves nothing: ${why}; expected one that fails while the work is not done`,
      );
    return;
  }
  const phrase = prosePhrases.find((prosePhrase) => text.toLowerCase().replaceAll(/\s+/g, " ").includes(prosePhrase));
  const form = "expected `text :: command` or `text -- verified by: `command``";
  if (phrase === undefined)
    report.error(place, path, "criterion_without_command", `found the criterion ${shown(text)} without a command, ${form}`);
  else report.error(place, path, "prose_criterion", `found only prose (${shown(phrase)}) in the criterion ${shown(text)}, ${form}`);
}

function lintOrder(tasks: readonly PlanTask[], report: Report): void {
  const ids = new Set(tasks.map(({ id }) => id));
  const lines = new Map(tasks.map(({ id, line }) => [id, line]));
  for (const task of tasks) {
    for (const id of task.after)
      if (!ids.has(id))
        report.error(
          placeOf(task),
          `task_${task.id}.after`,
          "unknown_task",
          `found task ${task.id} after ${shown(id)}, expected the id of a task of this plan`,
        );
  }
  const waves = new Map(tasks.map(({ id, wave }) => [id, wave]));
  for (const { id, after, line, wave } of tasks) {
    const late = after.find((other) => wave !== null && (waves.get(other) ?? -1) > wave);
    if (late !== undefined)
      report.error(
        { line, column: 1 },
        `task_${id}.after`,
        "wave_order",
        `found task ${id} of wave ${wave} after ${late} of wave ${waves.get(late)}, expected an earlier or the same wave`,
      );
  }
  for (const ring of ringsAmong(tasks, compareTaskIds)) {
    const [first = ""] = ring;
    report.error(
      { line: lines.get(first) ?? 1, column: 1 },
      `task_${first}.after`,
      "task_cycle",
      `found tasks that wait for each other: ${ring.join(" -> ")}, expected an order`,
    );
  }
}

/** By the numbers in them, then by letter: 03-2 before 03-10. */
export function compareTaskIds(a: string, b: string): number {
  const [left, right] = [a.split(/(\d+)/), b.split(/(\d+)/)];
  for (let n = 0; n < Math.max(left.length, right.length); n += 1) {
    const [mine = "", other = ""] = [left[n], right[n]];
    if (mine === other) continue;
    const difference = Number(mine) - Number(other);
    return Number.isNaN(difference) || difference === 0 ? (mine < other ? -1 : 1) : difference;
  }
  return 0;
}
