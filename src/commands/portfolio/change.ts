// change: changes the state of a task, or pauses a portfolio or a project, as a person asks.

import type { CommandResponse } from "../../contracts/command-response.ts";
import type { PortfolioTaskStatus } from "../../contracts/portfolio/portfolio.ts";
import type { PortfolioChange } from "../../contracts/portfolio/portfolio-journal.ts";
import { listOpenBlocks } from "../../portfolio/planner/state.ts";
import { mayTransition } from "../../portfolio/planner/task-changes.ts";
import { requirePortfolio } from "../../portfolio/store/folder.ts";
import { type OpenPortfolio, withPortfolio } from "../../portfolio/store/open.ts";
import { findUnchargedUsage } from "../../portfolio/worker/charge-usage.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, refuse, respond } from "../../project/respond.ts";
import { operatorFields, requirePortfolioProject, requireTask } from "./portfolio-input.ts";

type TaskMove = {
  readonly task: string;
  readonly to: "ready" | "canceled";
  readonly because: string;
};

type Pause = { readonly project?: string | undefined; readonly paused: boolean };

/** Makes a task ready or cancels it; its open questions are answered with the reason. */
export function moveTask(context: CommandContext, move: TaskMove): Promise<CommandResponse> {
  return catchRefusals(async () =>
    withPortfolio(context, requirePortfolio(context), (portfolio) =>
      moveInPortfolio(context, portfolio, move),
    ),
  );
}

async function moveInPortfolio(
  context: CommandContext,
  portfolio: OpenPortfolio,
  { task: taskName, to, because }: TaskMove,
): Promise<CommandResponse> {
  const task = requireTask(portfolio.state, taskName);
  const { task_id } = task;
  requireTransition(task_id, task.status, to);

  const usageChanges = await findUnchargedUsage(portfolio.paths, task);
  if (usageChanges.length > 0) await portfolio.write(...usageChanges);

  const answers: PortfolioChange[] = [];
  for (const block of listOpenBlocks(portfolio.state)) {
    if (block.task_id !== task_id) continue;
    const { block_id, content } = block;
    const event = "block_resolved";
    answers.push({ ...operatorFields(context), event, block_id, content, answer: because });
  }

  // The last answer makes a blocked task ready by itself.
  await portfolio.write(...answers);

  if (portfolio.state.tasks[task_id]?.status !== to) {
    await portfolio.write({
      ...operatorFields(context),
      event: "task_status_changed",
      task_id,
      to_status: to,
      because,
    });
  }

  return respond("ok", {
    message: `${task_id} is ${to}.`,
    warnings: portfolio.warnings,
    data: { id: task_id, status: to },
  });
}

export function requireTransition(
  task_id: string,
  from: PortfolioTaskStatus,
  to: PortfolioTaskStatus,
): void {
  if (mayTransition(from, to)) return;

  const hint = to === "ready" ? " autopilot portfolio status says what it waits for." : "";
  const message =
    from === to
      ? `${task_id} is ${to} already.${hint}`
      : `${task_id} is ${from}, so it cannot become ${to}.`;
  refuse("invalid_status_transition", { message, state: from, data: { task_id, from, to } });
}

/** Pauses or resumes dispatching, of one project or of all. */
export function pausePortfolio(context: CommandContext, input: Pause): Promise<CommandResponse> {
  return catchRefusals(async () =>
    withPortfolio(context, requirePortfolio(context), async (portfolio) => {
      const project_id = await writePause(context, portfolio, input);
      const subject = project_id ?? "The portfolio";

      return respond("ok", {
        message: input.paused
          ? `${subject} is paused: nothing new is dispatched, and what works ends its work.`
          : `${subject} goes on.`,
        warnings: portfolio.warnings,
        data: { id: project_id },
      });
    }),
  );
}

/** Returns the project's id; null if the whole portfolio is paused. */
async function writePause(
  context: CommandContext,
  portfolio: OpenPortfolio,
  { project, paused }: Pause,
): Promise<string | null> {
  const operator = operatorFields(context);
  if (project === undefined) {
    await portfolio.write({ ...operator, event: "portfolio_updated", paused });
    return null;
  }

  const { project_id } = requirePortfolioProject(portfolio.state, project);
  const changes = { paused };
  await portfolio.write({ ...operator, event: "project_updated", project_id, changes });
  return project_id;
}
