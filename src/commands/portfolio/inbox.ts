// inbox: `portfolio inbox`: the questions and tasks of a portfolio that wait for a person.

import type { CommandResponse } from "../../contracts/command-response.ts";
import { describeWaitingForPeople } from "../../portfolio/views/board.ts";
import { listTasksNeedingPerson } from "../../portfolio/planner/needs-person.ts";
import { describeWaiting } from "../../portfolio/planner/questions.ts";
import { listOpenBlocks, type PortfolioView } from "../../portfolio/planner/state.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, respond } from "../../project/respond.ts";
import { answerArgument, oneLine } from "../../views/wording.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { readCheckedPortfolio } from "../../portfolio/store/checked.ts";
import { findVisiblePortfolio } from "../../portfolio/store/folder.ts";
import { withPortfolio } from "../../portfolio/store/open.ts";
import { inspectLandings } from "./inspect-landings.ts";
import { recoverTasks } from "./recover-tasks.ts";
import { planPortfolio } from "./plan-portfolio.ts";
import { type InboxRow, listRunQuestions } from "./run-questions.ts";
import { foreignWarning } from "./visible-plan.ts";
import { ageMs } from "../../kit/iso-time.ts";

/** A task that waits for a person although it asks no question. */
type TaskRow = {
  readonly task: string;
  readonly project: string;
  readonly status: string;
  readonly objective: string;
  readonly why: string;
  readonly age_ms: number;
  readonly commands: readonly string[];
};

const listTaskRows = (state: PortfolioView, now: string): readonly TaskRow[] =>
  listTasksNeedingPerson(state, now).map(({ task, why, commands, since }) => ({
    task: task.task_id,
    project: task.project_id,
    status: task.status,
    objective: task.objective,
    why,
    age_ms: ageMs(since ?? task.changed_at, now),
    commands,
  }));

/** The questions of the portfolio itself that are open. */
export const listPortfolioQuestions = (state: PortfolioView, now: string): readonly InboxRow[] =>
  listOpenBlocks(state).map((block) => ({
    block: block.block_id,
    project: block.project_id,
    who: describeWaiting(block),
    task: block.task_id,
    tasks: Object.keys(block.tasks),
    question: block.question,
    expected_action: block.expected_action,
    impact: block.impact,
    options: block.options,
    age_ms: ageMs(block.opened_at, now),
    content: block.content,
    command: `autopilot portfolio answer --block ${block.block_id} ${answerArgument(block.options)}`,
  }));

/**
 * Everything that waits for a person: the questions of the portfolio and of runs, and tasks that
 * wait without a question.
 */
export function portfolioInbox(context: CommandContext): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const { paths, foreign } = findVisiblePortfolio(context);
    // Questions that runs have come to since the last tick are journaled first. Another user's
    // portfolio is only read.
    const { rows, tasks, warnings } =
      foreign === null
        ? await withPortfolio(context, paths, async (portfolio) => {
            const { gone } = await recoverTasks({ paths, active: new Map() }, portfolio);
            const { actions } = planPortfolio(context, portfolio, { input: {}, paths }, gone);

            const { state } = await inspectLandings(
              paths,
              portfolio.state,
              actions,
              portfolio.now(),
            );

            return {
              rows: [
                ...listPortfolioQuestions(state, portfolio.now()),
                ...(await listRunQuestions(context, state)),
              ],
              tasks: listTaskRows(state, portfolio.now()),
              warnings: portfolio.warnings,
            };
          })
        : await readCheckedPortfolio(paths).then((state) => ({
            rows: listPortfolioQuestions(state, systemClock.now()),
            tasks: listTaskRows(state, systemClock.now()),
            warnings: [],
          }));

    const message = `${describeWaitingForPeople(rows.length, tasks.length) ?? "Nothing waits for you"}.`;
    const questionLines = rows.flatMap(
      ({ question, who, expected_action, impact, options, age_ms, command }) => [
        "",
        question,
        `  ${who}, ${Math.floor(age_ms / 60_000)} min; ${impact}`,
        ...Object.entries(options).map(([key, about]) => `  ${key}  ${about}`),
        `  ${expected_action}`,
        `  ${command}`,
      ],
    );

    const taskLines = tasks.flatMap(({ task, objective, status, why, age_ms, commands }) => [
      "",
      `${oneLine(objective, 100)}  ${task}`,
      `  ${status}, ${Math.floor(age_ms / 60_000)} min: ${why}`,
      ...commands.map((command) => `  ${command}`),
    ]);

    return respond("ok", {
      warnings,
      ...foreignWarning(foreign),
      message,
      page: [message, ...questionLines, ...taskLines],
      data: { blocks: rows, tasks, foreign },
    });
  });
}
