// try-again: handles a task that could not be started, or whose result could not be taken in: it is
// tried again later, or a person is asked.

import { join } from "node:path";
import type { PortfolioChange } from "../../contracts/portfolio/portfolio-journal.ts";
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

    const failureText = `${task_id} ${failureTexts[doing]}: ${failure.message}`;
    const delay = changes.find((change) => change.event === "task_delayed");
    if (delay === undefined) {
      context.show(`✗ ${failureText}`);
      return "asked";
    }

    context.show(`· ${failureText} Again at ${delay.until}.`);
    return "later";
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
  failed: { readonly doing: FailedAction; readonly failure: Failure },
): readonly PortfolioChange[] {
  const { task_id } = task;
  const { doing, failure } = failed;
  const { code, message } = failure;

  const retry = findRetryPolicy(code);
  const until = findNextTry(task, { reason: code, retry, doing }, now());
  if (until === null) {
    const cause = describeCause(paths, task, doing, message);
    return blockTask(state, cause, task_id, now());
  }

  const delayed: PortfolioChange = {
    event: "task_delayed",
    actor: "planner",
    reason_code: code,
    task_id,
    doing,
    because: message,
    until,
  };
  return [delayed];
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
  const words = why.split(/(?<=\s)|(?=[\s'"])/);
  const wordsWithoutCopy = words.map((word) => (word.startsWith(copy) ? "its copy" : word));
  const reason = wordsWithoutCopy.join("").replaceAll(task_id, "the task");
  const sentence = /[.!?]$/.test(reason.trimEnd()) ? reason : `${reason}.`;

  return {
    kind: "start",
    question: `${causeTexts[doing]}: ${sentence} Try again?`,
    expected_action: "fix it, then answer A",
    about: reason,
  };
}

const causeTexts: Readonly<Record<FailedAction, string>> = {
  start: "Work could not be started",
  result: "The result of work could not be taken in",
};
