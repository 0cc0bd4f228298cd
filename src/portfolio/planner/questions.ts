// questions: what a portfolio asks a person, which answers each question takes, and whether a
// question that is open still applies.
//
// Invariants:
//   H1. A question covers all that a person agrees to: the words shown, and `about`, the facts
//       behind them. Its content hash is made of both.
//   H2. If those facts change, the question is replaced by a new one (store/ask.ts), and an answer
//       to the old one is refused (commands/portfolio).
//   H3. An approval is for the work of one run, for the task as it was then. Work that the merge
//       queue gives back is no longer approved.
//   H4. A question whose answer the planner reads takes only the answers it names, without further
//       words, since nobody would read those: "yes, but …" is not a yes. Only "try again" takes
//       words, for the agent.
//   H5. A cause that blocks several tasks is asked about once, and the answer frees them all. A
//       task that was changed meanwhile is tried again without an answer; a cause that blocks no
//       task any more is not asked about.

import { listSome } from "../../kit/list-some.ts";
import type { PortfolioChangeOf } from "../../contracts/portfolio/portfolio-journal.ts";
import { canonicalJson } from "../../kit/canonical-json.ts";
import { oneLine } from "../../views/wording.ts";
import {
  type BlockView,
  listOpenBlocks,
  type PortfolioView,
  type ProjectView,
  type TaskView,
} from "./state.ts";

export type QuestionKind = "approve" | "idle" | "start" | "run" | "provider" | "rewound";
type OpenedBlock = PortfolioChangeOf<"block_opened">;
export type Question = Omit<
  OpenedBlock,
  "event" | "actor" | "reason_code" | "block_id" | "content" | "about" | "replaces"
> & {
  readonly kind: QuestionKind;
  /**
   * The facts behind the words, as one text to compare: if they change, the question is another one
   * (H1, H2).
   */
  readonly about: string;
};

/**
 * The part of a question that follows from the state alone, and may change while the question is
 * open.
 */
type QuestionText = Pick<Question, "question" | "about"> &
  Partial<Pick<Question, "expected_action" | "asked_by">>;

const objectiveCharsMax = 300;

/** Whether the work of a task's newest run is what was wanted. */
export function buildApprovalQuestion(task: TaskView): QuestionText {
  const { task_id, run_id, objective, acceptance_criteria, touches } = task;
  const unproved = acceptance_criteria.filter(({ command }) => command === null);
  const asked = unproved.length === 0 ? acceptance_criteria : unproved;
  const criteriaText = asked.map(({ text }) => text).join("; ");

  return {
    question: `Does the work of ${task_id} meet: ${criteriaText === "" ? objective : criteriaText}?`,
    about: canonicalJson({ run_id, objective, acceptance_criteria, touches }),
  };
}

/** Whether a project whose tasks are all over is done. */
export function buildIdleQuestion(
  state: PortfolioView,
  { project_id, objective, tasks }: ProjectView,
): QuestionText {
  const statuses = tasks.map((id) => state.tasks[id]?.status);
  const doneCount = statuses.filter((status) => status === "done").length;
  const canceledCount = statuses.filter((status) => status === "canceled").length;
  const overText =
    canceledCount === 0 ? `${doneCount} done` : `${doneCount} done, ${canceledCount} canceled`;
  const objectiveText = oneLine(objective, objectiveCharsMax);

  return {
    question: `Every task of ${project_id} is over (${overText}). Is its objective met: ${objectiveText}?`,
    about: canonicalJson({ objective, done: doneCount, canceled: canceledCount }),
  };
}

/** The kind is the first part of the content: `approve:0123…`. */
export const readQuestionKind = ({ content }: Pick<BlockView, "content">): string =>
  content.split(":", 1)[0] ?? "";

/** Whether this was asked before, and is open or answered. */
export const wasAsked = (
  state: PortfolioView,
  kind: QuestionKind,
  { question, about }: QuestionText,
): boolean =>
  Object.values(state.blocks).some(
    (block) =>
      readQuestionKind(block) === kind && block.question === question && block.about === about,
  );

/**
 * Whether a person said that the work of a task's newest run meets the criteria that no command
 * proves (H3).
 */
export function isApproved(state: PortfolioView, task: TaskView): boolean {
  if (task.run_id === null || task.returned_by === "queue") return false;

  const { about } = buildApprovalQuestion(task);
  const approvals = Object.values(state.blocks).filter(
    (block) => readQuestionKind(block) === "approve" && block.task_id === task.task_id,
  );
  return approvals.some(
    (block) => block.about === about && findChosenOption(block, block.answer ?? "") === "A",
  );
}

/**
 * Open questions that no longer apply, each with the text to ask now; null if nothing is to be
 * asked (H2).
 */
export function findOutdatedQuestions(
  state: PortfolioView,
): readonly { readonly block: BlockView; readonly currentText: QuestionText | null }[] {
  return listOpenBlocks(state).flatMap((block) => {
    const currentText = findCurrentText(state, block);
    const isSame =
      currentText === undefined ||
      (currentText?.question === block.question && currentText.about === block.about);
    return isSame ? [] : [{ block, currentText }];
  });
}

/**
 * How an open question would be asked now: null if not at all, undefined if no change of the
 * portfolio can affect it.
 */
function findCurrentText(state: PortfolioView, block: BlockView): QuestionText | null | undefined {
  const task = state.tasks[block.task_id ?? ""];
  const project = state.projects[block.project_id ?? ""];

  switch (readQuestionKind(block)) {
    case "approve":
      return task === undefined ? undefined : buildApprovalQuestion(task);
    case "run":
      return task?.is_edited === true ? buildQuestionOfEarlierRun(task, block) : undefined;
    case "idle":
      if (project === undefined) return undefined;
      return hasOpenTask(state, project) ? null : buildIdleQuestion(state, project);
    default:
      return undefined;
  }
}

/** A proposal doesn't count: it has no question to answer. */
const hasOpenTask = (state: PortfolioView, { tasks }: ProjectView): boolean =>
  tasks.some((id) => {
    const status = state.tasks[id]?.status ?? "done";
    return status !== "done" && status !== "canceled" && status !== "proposed";
  });

/**
 * An agent's question whose task was changed meanwhile: that run isn't resumed, so the next run
 * gets the answer.
 */
const buildQuestionOfEarlierRun = (task: TaskView, { question }: BlockView): QuestionText => ({
  question,
  about: toRunInputs(task),
  expected_action:
    "answer it; the task was changed since, so a new run begins and is told the question and your answer",
  asked_by: null,
});

/** The fields of a task that its run is started with, as one text to compare. */
const toRunInputs = ({
  attempt,
  objective,
  acceptance_criteria,
  touches,
  flow,
  isolation,
  agent,
}: TaskView): string =>
  canonicalJson({ attempt, objective, acceptance_criteria, touches, flow, isolation, agent });

/**
 * A reason that blocks any number of tasks alike, such as a provider that refuses or a repository
 * that is gone (H5).
 */
export type SharedCause = Pick<Question, "question" | "expected_action" | "about"> & {
  readonly kind: "start" | "provider";
};

const isAboutSharedCause = (block: BlockView): boolean =>
  ["start", "provider"].includes(readQuestionKind(block)) && block.task_id === null;

type FreedTask = {
  readonly task_id: string;
  readonly block_id: string;
  readonly because: string;
};

/** The open question about a cause. */
export const findOpenQuestionAbout = (
  state: PortfolioView,
  { kind, about }: SharedCause,
): BlockView | undefined =>
  listOpenBlocks(state).find(
    (block) =>
      isAboutSharedCause(block) && readQuestionKind(block) === kind && block.about === about,
  );

/**
 * Tasks that a cause no longer blocks, each with why, and the questions about causes that block no
 * task any more (H5).
 */
export function findSettledCauses(state: PortfolioView): {
  readonly freedTasks: readonly FreedTask[];
  readonly settledBlocks: readonly BlockView[];
} {
  const freedTasks: FreedTask[] = [];
  const settledBlocks: BlockView[] = [];

  for (const block of Object.values(state.blocks).filter(isAboutSharedCause)) {
    const freed = listFreedTasks(state, block);
    freedTasks.push(...freed);

    const isAnyHeld = freed.length < Object.keys(block.tasks).length;
    if (block.resolved_at === null && !isAnyHeld) settledBlocks.push(block);
  }

  return { freedTasks, settledBlocks };
}

/** The tasks that a cause no longer blocks: they were changed, or the question is answered. */
function listFreedTasks(
  state: PortfolioView,
  { block_id, tasks, answer }: BlockView,
): readonly FreedTask[] {
  const because = answer === null ? "it was changed" : `answered: ${answer}`;
  const heldIds = Object.entries(tasks).filter(([task_id, { changed }]) => {
    const isChanged = state.tasks[task_id]?.changed !== changed;
    return answer !== null || isChanged;
  });

  return heldIds.map(([task_id]) => ({ task_id, block_id, because }));
}

/** The ids of the tasks, or of the project, that wait for an answer. */
export function listWaitingIds({ task_id, project_id, tasks }: BlockView): readonly string[] {
  if (task_id !== null) return [task_id];
  const blockedTasks = Object.keys(tasks);
  if (blockedTasks.length > 0 || project_id === null) return blockedTasks;

  return [project_id];
}

const namesShownMax = 20;

/** The tasks or the project that wait for an answer, in a line. */
export const describeWaiting = (block: BlockView): string => {
  const names = listWaitingIds(block);
  return names.length === 0 ? "portfolio" : listSome(names, namesShownMax);
};

/** The open question that replaced one that no longer applied. */
export const findSuccessor = (state: PortfolioView, old: BlockView): BlockView | undefined =>
  listOpenBlocks(state).find(
    (block) =>
      readQuestionKind(block) === readQuestionKind(old) &&
      block.task_id === old.task_id &&
      block.project_id === old.project_id &&
      old.content !== "" &&
      !isAboutSharedCause(old), // another cause is another question
  );

/** By kind of question: the option that takes further words, for the agent that tries again. */
const optionTakingWords: Readonly<Record<string, string>> = { approve: "B" };
const synonyms: Readonly<Record<string, string>> = { YES: "A", Y: "A", NO: "B", N: "B" };

/**
 * The option that a text chooses, as in `a`, `Yes.` or `B, the title is missing`; null if it
 * chooses none (H4).
 */
export function findChosenOption(
  block: Pick<BlockView, "content" | "options">,
  text: string,
): string | null {
  const [, word = "", words = ""] = /^([a-z]+)\s*(?:$|[.,;:!)]+\s*)(.*)$/is.exec(text.trim()) ?? [];
  const choice = word.toUpperCase();
  const key = Object.keys(block.options).find(
    (option) => option === choice || option === synonyms[choice],
  );
  if (key === undefined) return null;

  const takesWords = optionTakingWords[readQuestionKind(block)] === key;
  return words === "" || takesWords ? key : null;
}

/**
 * Why a question does not accept this text; null if it does (H4). An agent reads any words, so its
 * questions take them.
 */
export function whyNotAnswer(block: BlockView, text: string): string | null {
  const kind = readQuestionKind(block);
  const choices = Object.entries(block.options);
  if (kind === "run" || choices.length === 0) return null;
  if (findChosenOption(block, text) !== null) return null;

  const choicesText = choices.map(([key, label]) => `${key} (${label})`).join(" or ");
  const optionWithWords = optionTakingWords[kind];
  const hint =
    optionWithWords === undefined
      ? ""
      : ` To have something changed, say ${optionWithWords} and what: "${optionWithWords}, the title is missing".`;

  return `${block.block_id} takes ${choicesText}, and nothing beside it.${hint} Until it is answered, it stays open.`;
}

/** An answer for a person to read: the chosen option with its label, or the answer's own words. */
export function describeAnswer(block: BlockView, text: string): string {
  const key = readQuestionKind(block) === "run" ? null : findChosenOption(block, text);
  if (key === null) return `"${oneLine(text, objectiveCharsMax)}"`;
  return `${key} (${block.options[key] ?? ""})`;
}
