// task-hints: rewrites the hints of a run for the portfolio's folder. A run's own hints are for its
// copy, where a person would resume, answer and merge it; here the portfolio does that.

import type { CommandResponse } from "../../contracts/command-response.ts";
import { listTasksNeedingPerson } from "../planner/needs-person.ts";
import type { PortfolioView, TaskView } from "../planner/state.ts";

const hintMark = "→ ";
/**
 * The name of the command that a text begins with, if that command only reads a run; otherwise
 * null.
 */
export type FindReadingCommand = (text: string) => string | null;

/** Each command in a hint: `report -v && ` and `log` of `autopilot report -v && autopilot log`. */
const commandPattern = /\bautopilot ((?:(?!\bautopilot ).)*)/g;

const onlyReads = (hint: string, findReadingCommand: FindReadingCommand): boolean =>
  [...hint.matchAll(commandPattern)].every(([, text = ""]) => findReadingCommand(text) !== null) &&
  !/\bgit \w|--done-criteria\b/.test(hint);

/**
 * `autopilot diff` becomes `autopilot diff --run TASK`; a command that names a run stays as it is.
 */
const addTaskName = (hint: string, task: string, findReadingCommand: FindReadingCommand): string =>
  hint.replace(commandPattern, (match: string, text: string) => {
    const afterCommand = text.slice(findReadingCommand(text)?.length ?? 0);
    return /^ (?:--run|run-)/.test(afterCommand)
      ? match
      : `autopilot ${findReadingCommand(text) ?? ""} --run ${task}${afterCommand}`;
  });

/** What a person can do about the task now, as commands for the portfolio's folder. */
export function listNextCommands(state: PortfolioView, task: TaskView): readonly string[] {
  const repository = state.projects[task.project_id]?.repository ?? null;
  if (task.landed !== null && repository !== null) {
    return [`git -C ${repository} show ${task.landed.slice(0, 12)}`];
  }

  if (task.status === "blocked_human") return ["autopilot inbox"];
  const need = listTasksNeedingPerson(state).find(
    (candidate) => candidate.task.task_id === task.task_id,
  );
  if (need !== undefined) return need.commands;

  return [task.status === "running" ? "autopilot portfolio watch" : "autopilot portfolio status"];
}

/**
 * The hints that only read, each with the task's name; then what can be done in the portfolio's
 * folder.
 */
const rewriteHints = (
  hints: readonly string[],
  task: string,
  nextCommands: readonly string[],
  findReadingCommand: FindReadingCommand,
): readonly string[] => [
  ...new Set([
    ...hints
      .filter((hint) => onlyReads(hint, findReadingCommand))
      .map((hint) => addTaskName(hint, task, findReadingCommand)),
    ...nextCommands,
  ]),
];

/** A response about a task's run, with its hints rewritten wherever they stand. */
export function toTaskResponse(
  response: CommandResponse,
  task: string,
  nextCommands: readonly string[],
  findReadingCommand: FindReadingCommand,
): CommandResponse {
  const rewritePage = (lines: readonly string[]): readonly string[] => {
    const hints = lines
      .filter((line) => line.startsWith(hintMark))
      .map((line) => line.slice(hintMark.length));
    if (hints.length === 0) return lines;
    return [
      ...lines.filter((line) => !line.startsWith(hintMark)),
      ...rewriteHints(hints, task, nextCommands, findReadingCommand).map(
        (hint) => `${hintMark}${hint}`,
      ),
    ];
  };

  const rewriteField = (key: string): Readonly<Record<string, unknown>> => {
    const hints = response.data?.[key];
    return Array.isArray(hints)
      ? { [key]: rewriteHints(hints as readonly string[], task, nextCommands, findReadingCommand) }
      : {};
  };

  return {
    ...response,
    remediation:
      response.remediation.length === 0
        ? []
        : rewriteHints(response.remediation, task, nextCommands, findReadingCommand),
    ...(response.page === undefined ? {} : { page: rewritePage(response.page) }),
    ...(response.whole === undefined ? {} : { whole: rewritePage(response.whole) }),
    ...(response.data === undefined
      ? {}
      : {
          data: {
            ...response.data,
            ...rewriteField("next_actions"),
            ...rewriteField("recommendations"),
          },
        }),
  };
}
