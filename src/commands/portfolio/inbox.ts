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
import { findVisiblePortfolio, type PortfolioPaths } from "../../portfolio/store/folder.ts";
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

/** What waits for a person, and what went wrong while it was looked for. */
type Waiting = {
  readonly rows: readonly InboxRow[];
  readonly tasks: readonly TaskRow[];
  readonly warnings: readonly string[];
};

/**
 * Everything that waits for a person: the questions of the portfolio and of runs, and tasks that
 * wait without a question.
 */
export function portfolioInbox(context: CommandContext): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const { paths, foreign } = findVisiblePortfolio(context);
    const { rows, tasks, warnings } =
      foreign === null ? await findOwnWaiting(context, paths) : await findForeignWaiting(paths);

    const waitingText = describeWaitingForPeople(rows.length, tasks.length);
    const message = `${waitingText ?? "Nothing waits for you"}.`;
    return respond("ok", {
      warnings,
      ...foreignWarning(foreign),
      message,
      page: [message, ...rows.flatMap(renderQuestion), ...tasks.flatMap(renderTask)],
      data: { blocks: rows, tasks, foreign },
    });
  });
}

/** Questions that runs have come to since the last tick are journaled first. */
function findOwnWaiting(context: CommandContext, paths: PortfolioPaths): Promise<Waiting> {
  return withPortfolio(context, paths, async (portfolio) => {
    const { gone } = await recoverTasks({ paths, active: new Map() }, portfolio);
    const { actions } = planPortfolio(context, portfolio, { input: {}, paths }, gone);
    const now = portfolio.now();
    const { state } = await inspectLandings(paths, portfolio.state, actions, now);
    const runQuestions = await listRunQuestions(context, state);

    return {
      rows: [...listPortfolioQuestions(state, now), ...runQuestions],
      tasks: listTaskRows(state, now),
      warnings: portfolio.warnings,
    };
  });
}

/** Another user's portfolio is only read. */
async function findForeignWaiting(paths: PortfolioPaths): Promise<Waiting> {
  const state = await readCheckedPortfolio(paths);
  const now = systemClock.now();
  return {
    rows: listPortfolioQuestions(state, now),
    tasks: listTaskRows(state, now),
    warnings: [],
  };
}

function renderQuestion(row: InboxRow): readonly string[] {
  const { question, who, expected_action, impact, options, age_ms, command } = row;
  const optionLines = Object.entries(options).map(([key, about]) => `  ${key}  ${about}`);

  return [
    "",
    question,
    `  ${who}, ${Math.floor(age_ms / 60_000)} min; ${impact}`,
    ...optionLines,
    `  ${expected_action}`,
    `  ${command}`,
  ];
}

function renderTask({ task, objective, status, why, age_ms, commands }: TaskRow): string[] {
  return [
    "",
    `${oneLine(objective, 100)}  ${task}`,
    `  ${status}, ${Math.floor(age_ms / 60_000)} min: ${why}`,
    ...commands.map((command) => `  ${command}`),
  ];
}
