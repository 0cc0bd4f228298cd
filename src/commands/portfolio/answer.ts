// answer: answers an open question of a portfolio's project, task or run.

import type { CommandResponse } from "../../contracts/command-response.ts";
import { readPortfolioMark, runKey } from "../../fleet/shared-mark.ts";
import { canonicalJson } from "../../kit/canonical-json.ts";
import { describeAnswer, findSuccessor, whyNotAnswer } from "../../portfolio/planner/questions.ts";
import {
  type BlockView,
  listOpenBlocks,
  type PortfolioView,
} from "../../portfolio/planner/state.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, refuse, Refusal, respond } from "../../project/respond.ts";
import { answerPlaceholder } from "../../views/wording.ts";
import { operatorFields } from "./portfolio-input.ts";
import { findCopy, type PortfolioPaths, requirePortfolio } from "../../portfolio/store/folder.ts";
import { type OpenPortfolio, withPortfolio } from "../../portfolio/store/open.ts";
import { listRunQuestions } from "./run-questions.ts";
import { listPortfolioQuestions } from "./inbox.ts";
import { loadTaskRun } from "../../portfolio/worker/task-runs.ts";

export type PortfolioAnswer = {
  readonly block?: string | undefined;
  readonly content?: string | undefined;
  readonly text: string;
};

/** The open questions, as a refusal shows them. */
type OpenQuestions = {
  readonly data: { readonly blocks: readonly unknown[] };
  readonly remediation: readonly string[];
};

/**
 * Answers a question of a portfolio: the one that is named, or the only one. An answer counts for
 * the question as it was shown.
 */
export function answerPortfolio(
  context: CommandContext,
  input: PortfolioAnswer,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = requirePortfolio(context);
    return withPortfolio(context, paths, (portfolio) => answerOpen(context, portfolio, input));
  });
}

async function answerOpen(
  context: CommandContext,
  portfolio: OpenPortfolio,
  input: PortfolioAnswer,
): Promise<CommandResponse> {
  const { paths, state } = portfolio;
  const blocks = listOpenBlocks(state);
  const questionsOfRuns = input.block === undefined ? await listRunQuestions(context, state) : [];
  const [onlyQuestion] = questionsOfRuns;

  // If only a run that was begun by hand asks, the answer is for that run.
  if (onlyQuestion !== undefined && questionsOfRuns.length === 1 && blocks.length === 0) {
    const { answer } = await import("../answer.ts");
    const { directory, run, block } = onlyQuestion;
    return answer({ ...context, cwd: directory }, { run, block, text: input.text });
  }

  const rows = [...listPortfolioQuestions(state, portfolio.now()), ...questionsOfRuns];
  const questions = {
    data: { blocks: rows },
    remediation: rows.map(({ command, question }) => `${command}  (${question.slice(0, 80)})`),
  };

  const mayMeanRun = input.block === undefined && questionsOfRuns.length > 0;
  const block = mayMeanRun ? undefined : findBlock(blocks, input.block);
  if (block === undefined) return refuseUnclear(state, input, questions);

  const { text } = input;
  requireCurrent(block, input, questions);
  requireFit(block, text, questions);
  await passToRun(context, { paths, state, block, text, questions });
  return recordAnswer(context, portfolio, block, text);
}

const findBlock = (blocks: readonly BlockView[], id: string | undefined): BlockView | undefined => {
  if (id !== undefined) return blocks.find(({ block_id }) => block_id === id);
  return blocks.length === 1 ? blocks[0] : undefined;
};

/**
 * Says why no question could be picked: it was asked again under another id, it isn't open, or
 * there are none or several.
 */
function refuseUnclear(
  state: PortfolioView,
  { block: id }: PortfolioAnswer,
  questions: OpenQuestions,
): never {
  const askedBlock = id === undefined ? undefined : state.blocks[id];
  const successor = askedBlock === undefined ? undefined : findSuccessor(state, askedBlock);
  if (askedBlock !== undefined && successor !== undefined) {
    return refuse("block_changed", {
      message: `${askedBlock.block_id} was asked again as ${successor.block_id}, because what it is about has changed: ${successor.question}`,
      ...questions,
    });
  }

  const { length: openCount } = questions.data.blocks;
  if (openCount === 0) {
    return refuse("block_ambiguous", {
      message: "No question is open, so there is nothing to answer.",
    });
  }

  const message =
    id === undefined
      ? `${openCount} questions are open, so say which one you mean.`
      : `${id} is not open.`;

  return refuse("block_ambiguous", { message, ...questions });
}

/** Refuses an answer to a question that may have changed since the person read it. */
function requireCurrent(block: BlockView, input: PortfolioAnswer, questions: OpenQuestions): void {
  if (input.block === undefined && block.replaces !== null) {
    refuse("block_changed", {
      message: `${block.block_id} was asked in place of ${block.replaces}, because what that was about has changed. Read it and answer it by its id: ${block.question}`,
      ...questions,
    });
  }

  if (input.content !== undefined && input.content !== block.content) {
    refuse("block_changed", {
      message: `${block.block_id} asks something else now: ${block.question}`,
      ...questions,
    });
  }
}

/** Refuses an empty answer, or one that isn't among the options. */
function requireFit(block: BlockView, text: string, questions: OpenQuestions): void {
  if (["", answerPlaceholder].includes(text.trim())) {
    refuse("portfolio_input_invalid", { message: "The answer is empty." });
  }

  const problem = whyNotAnswer(block, text);
  if (problem !== null) refuse("portfolio_input_invalid", { message: problem, ...questions });
}

type RunAnswer = {
  readonly paths: PortfolioPaths;
  readonly state: PortfolioView;
  readonly block: BlockView;
  readonly text: string;
  readonly questions: OpenQuestions;
};

/**
 * If a task's run asks, the run gets the answer first: through the store if the portfolio is in
 * one, else in its copy here.
 */
async function passToRun(
  context: CommandContext,
  { paths, state, block, text, questions }: RunAnswer,
): Promise<void> {
  const { asked_by: asker } = block;
  const task = block.task_id === null ? undefined : state.tasks[block.task_id];
  if (asker === null || task === undefined) return;

  if (task.event_nonce !== null && readPortfolioMark(paths.ownFolder) !== null) {
    // Its worker may be on any machine, and this one may have no copy of the run.
    const { sendFleetRequest } = await import("../fleet/requests.ts");
    const key = runKey(asker.run_id, task.event_nonce);
    const request = { key, ask: "answer", text, block: asker.block } as const;
    return requireSuccess(await sendFleetRequest(context, request));
  }

  const copy = findCopy(paths, task);
  if (copy === null) return;
  const taskRun = await loadTaskRun(paths, task);
  const runBlock = taskRun?.view.blocks[asker.block];
  if (runBlock === undefined) return;

  const isSameQuestion =
    runBlock.question === block.question &&
    canonicalJson(runBlock.options) === canonicalJson(block.options);
  if (!isSameQuestion) {
    refuse("block_changed", {
      message: `The run asks something else now: ${runBlock.question}`,
      ...questions,
    });
  }

  const { answer } = await import("../answer.ts");
  const runAnswer = { run: asker.run_id, block: asker.block, text };
  requireSuccess(await answer({ ...context, cwd: copy }, runAnswer));
}

function requireSuccess(response: CommandResponse): void {
  if (response.result === "FAIL") throw new Refusal(response);
}

async function recordAnswer(
  context: CommandContext,
  portfolio: OpenPortfolio,
  block: BlockView,
  text: string,
): Promise<CommandResponse> {
  const { block_id, content, question } = block;
  const waitingIds = listWaitingIds(portfolio.state, block);
  const event = "block_resolved";
  const operator = operatorFields(context);
  await portfolio.write({ ...operator, event, block_id, content, answer: text });

  const effect = describeWaitingTasks(portfolio.state, waitingIds);
  return respond("block_answered", {
    message: `Answered "${question}" with ${describeAnswer(block, text)}${effect}.`,
    warnings: portfolio.warnings,
    remediation: ["autopilot portfolio run"],
    data: { id: block_id, tasks: waitingIds, question, answer: text },
  });
}

/** The task that the question is about, else all that wait for its answer. */
function listWaitingIds({ tasks }: PortfolioView, block: BlockView): readonly string[] {
  const { task_id } = block;
  return task_id === null || tasks[task_id] === undefined ? Object.keys(block.tasks) : [task_id];
}

/** What became of the tasks that waited for the answer. */
function describeWaitingTasks({ tasks }: PortfolioView, waitingIds: readonly string[]): string {
  const [firstId] = waitingIds;
  if (firstId === undefined) return "";
  if (waitingIds.length > 1) return `; ${waitingIds.length} tasks are ready`;
  return `; ${firstId} is ${tasks[firstId]?.status ?? ""}`;
}
