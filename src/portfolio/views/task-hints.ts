// task-hints: what a person can do about a task's run that is read from the portfolio's folder. The run's own hints are for whoever stands in
// its copy: there they are resumed, answered and merged; here the portfolio does that.

import type { CommandResponse } from "../../contracts/command-response.ts";
import { listTasksNeedingPerson } from "../planner/needs-person.ts";
import type { PortfolioView, TaskView } from "../planner/state.ts";

const mark = "→ ";
/** Of a text that begins with a command: its name if it only reads a run, which takes a task here; null if it is another. */
export type ReadingCommand = (text: string) => string | null;
const called = /\bautopilot ((?:(?!\bautopilot ).)*)/g;
const readsOnly = (hint: string, reads: ReadingCommand): boolean =>
  [...hint.matchAll(called)].every(([, text = ""]) => reads(text) !== null) && !/\bgit \w|--done-criteria\b/.test(hint);
const named = (hint: string, task: string, reads: ReadingCommand): string =>
  hint.replace(called, (all: string, text: string) => {
    const rest = text.slice(reads(text)?.length ?? 0);
    return /^ (?:--run|run-)/.test(rest) ? all : `autopilot ${reads(text) ?? ""} --run ${task}${rest}`;
  });

/** What is true of the task now, as commands. */
export function waysFor(state: PortfolioView, task: TaskView): readonly string[] {
  const repository = state.projects[task.project_id]?.repository ?? null;
  if (task.landed !== null && repository !== null) return [`git -C ${repository} show ${task.landed.slice(0, 12)}`];
  if (task.status === "blocked_human") return ["autopilot inbox"];
  const waits = listTasksNeedingPerson(state).find((one) => one.task.task_id === task.task_id);
  if (waits !== undefined) return waits.commands;
  return [task.status === "running" ? "autopilot portfolio watch" : "autopilot portfolio status"];
}

/** Of a run's hints those that only read, each with the task's name; then what the portfolio's folder has for it. */
const forTask = (hints: readonly string[], task: string, ways: readonly string[], reads: ReadingCommand): readonly string[] => [
  ...new Set([...hints.filter((hint) => readsOnly(hint, reads)).map((hint) => named(hint, task, reads)), ...ways]),
];

/** The answer about a task's run, as it is to be read in the portfolio's folder. */
export function responseForTask(response: CommandResponse, task: string, ways: readonly string[], reads: ReadingCommand): CommandResponse {
  const paged = (lines: readonly string[]): readonly string[] => {
    const hints = lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(mark.length));
    if (hints.length === 0) return lines;
    return [...lines.filter((line) => !line.startsWith(mark)), ...forTask(hints, task, ways, reads).map((hint) => `${mark}${hint}`)];
  };
  const listed = (key: string): Readonly<Record<string, unknown>> => {
    const hints = response.data?.[key];
    return Array.isArray(hints) ? { [key]: forTask(hints as readonly string[], task, ways, reads) } : {};
  };
  return {
    ...response,
    remediation: response.remediation.length === 0 ? [] : forTask(response.remediation, task, ways, reads),
    ...(response.page === undefined ? {} : { page: paged(response.page) }),
    ...(response.whole === undefined ? {} : { whole: paged(response.whole) }),
    ...(response.data === undefined ? {} : { data: { ...response.data, ...listed("next_actions"), ...listed("recommendations") } }),
  };
}
