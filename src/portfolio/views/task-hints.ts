// task-hints: what a person can do about a task's run that is read from the portfolio's folder. The run's own hints are for whoever stands in
// its copy: there they are resumed, answered and merged; here the portfolio does that.

import type { Answer } from "../../contracts/answer.ts";
import { forPeople } from "../planner/for-people.ts";
import type { PortfolioView, TaskView } from "../planner/state.ts";

const mark = "→ ";
/** Commands that only read a run: they take a task here. */
const reading = /\bautopilot (status|report|verify|diff|transcript|log|trace|watch)\b(?! (?:--run|run-))/g;
const readsOnly = (hint: string): boolean =>
  [...hint.matchAll(/\bautopilot (\S+)/g)].every(([, name = ""]) =>
    /^(status|report|verify|diff|transcript|log|trace|watch),?$/.test(name),
  ) && !/\bgit \w|--done-criteria\b/.test(hint);

/** What is true of the task now, as commands. */
export function waysFor(state: PortfolioView, task: TaskView): readonly string[] {
  const repository = state.projects[task.project_id]?.repository ?? null;
  if (task.landed !== null && repository !== null) return [`git -C ${repository} show ${task.landed.slice(0, 12)}`];
  if (task.status === "blocked_human") return ["autopilot inbox"];
  const [waits] = forPeople(state, task);
  if (waits !== undefined) return waits.commands;
  return [task.status === "running" ? "autopilot portfolio watch" : "autopilot portfolio status"];
}

/** Of a run's hints those that only read, each with the task's name; then what the portfolio's folder has for it. */
const forTask = (hints: readonly string[], task: string, ways: readonly string[]): readonly string[] => [
  ...new Set([...hints.filter(readsOnly).map((hint) => hint.replace(reading, `autopilot $1 --run ${task}`)), ...ways]),
];

/** The answer about a task's run, as it is to be read in the portfolio's folder. */
export function answerForTask(answer: Answer, task: string, ways: readonly string[]): Answer {
  const paged = (lines: readonly string[]): readonly string[] => {
    const hints = lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(mark.length));
    if (hints.length === 0) return lines;
    return [...lines.filter((line) => !line.startsWith(mark)), ...forTask(hints, task, ways).map((hint) => `${mark}${hint}`)];
  };
  const listed = (key: string): Readonly<Record<string, unknown>> => {
    const hints = answer.data?.[key];
    return Array.isArray(hints) ? { [key]: forTask(hints as readonly string[], task, ways) } : {};
  };
  return {
    ...answer,
    remediation: answer.remediation.length === 0 ? [] : forTask(answer.remediation, task, ways),
    ...(answer.page === undefined ? {} : { page: paged(answer.page) }),
    ...(answer.whole === undefined ? {} : { whole: paged(answer.whole) }),
    ...(answer.data === undefined ? {} : { data: { ...answer.data, ...listed("next_actions"), ...listed("recommendations") } }),
  };
}
