// try-again: handles a task that could not be started, or whose result could not be taken in: it is
// tried again later, or a person is asked.

import { join } from "node:path";
import type { PortfolioChange } from "../../contracts/portfolio-journal.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { type Failure, findRetryPolicy } from "../../project/respond.ts";
import { findNextTry } from "../planner/retry-delays.ts";
import type { SharedCause } from "../planner/questions.ts";
import type { Delay, TaskView } from "../planner/state.ts";
import { blockTask } from "../store/ask.ts";
import type { PortfolioPaths } from "../store/folder.ts";
import { type OpenPortfolio, withPortfolio } from "../store/open.ts";

type FailedAction = Delay["doing"];
type OwnFolder = Pick<PortfolioPaths, "ownFolder">;

/**
 * Journals the delay or the question, and shows it. If the pool was asked to end, the failure is
 * likely its doing, and nothing is said.
 */
export async function tryAgainOrAsk(
  { context, paths }: { readonly context: CommandContext; readonly paths: PortfolioPaths },
  task_id: string,
  doing: FailedAction,
  failure: Failure,
): Promise<"later" | "asked" | "over"> {
  if (context.interrupted.aborted) return "over";
  return withPortfolio(context, paths, async (portfolio) => {
    const task = portfolio.state.tasks[task_id];
    if (task?.status !== "ready" && task?.status !== "running") return "over";
    const changes = delayOrAsk(paths, portfolio, task, { doing, failure });
    await portfolio.write(...changes);
    const delay = changes.find((change) => change.event === "task_delayed");
    const againText = delay === undefined ? "" : ` Again at ${delay.until}.`;
    context.show(
      `${delay === undefined ? "✗" : "·"} ${task_id} ${failureTexts[doing]}: ${failure.message}${againText}`,
    );

    return delay === undefined ? "asked" : "later";
  });
}

const failureTexts: Readonly<Record<FailedAction, string>> = {
  start: "could not be started",
  result: "is over, and its result could not be taken in",
};

/** The change that delays the task, or the changes that block it on a question to a person. */
export function delayOrAsk(
  paths: OwnFolder,
  { state, now }: Pick<OpenPortfolio, "state" | "now">,
  task: TaskView,
  {
    doing,
    failure: { code, message },
  }: { readonly doing: FailedAction; readonly failure: Failure },
): readonly PortfolioChange[] {
  const { task_id } = task;
  const until = findNextTry(task, { reason: code, retry: findRetryPolicy(code), doing }, now());
  if (until === null) {
    return blockTask(state, describeCause(paths, task, doing, message), task_id, now());
  }

  return [
    {
      event: "task_delayed",
      actor: "planner",
      reason_code: code,
      task_id,
      doing,
      because: message,
      until,
    },
  ];
}

/**
 * The cause in words without the task's own names: tasks that fail for the same reason then share
 * one question.
 */
function describeCause(
  { ownFolder }: OwnFolder,
  { task_id }: TaskView,
  doing: FailedAction,
  why: string,
): SharedCause {
  const copy = join(ownFolder, "copies", task_id);
  const reason = why
    .split(/(?<=\s)|(?=[\s'"])/)
    .map((word) => (word.startsWith(copy) ? "its copy" : word))
    .join("")
    .replaceAll(task_id, "the task");

  const failure =
    doing === "start" ? "Work could not be started" : "The result of work could not be taken in";
  const question = `${failure}: ${reason}${/[.!?]$/.test(reason.trimEnd()) ? "" : "."} Try again?`;
  return { kind: "start", question, expected_action: "fix it, then answer A", about: reason };
}
