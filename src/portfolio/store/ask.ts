// ask: creates the journal entries that open, replace and close questions to a person. Each has an
// id, and a content hash that its answer must name.

import { randomBytes } from "node:crypto";
import type {
  PortfolioChange,
  PortfolioChangeOf,
} from "../../contracts/portfolio/portfolio-journal.ts";
import { canonicalJson } from "../../kit/canonical-json.ts";
import { createBlockId } from "../planner/ids.ts";
import {
  findOpenQuestionAbout,
  type SharedCause,
  readQuestionKind,
  findOutdatedQuestions,
  type Question,
  type QuestionKind,
  findSettledCauses,
} from "../planner/questions.ts";
import type { BlockView, PortfolioView } from "../planner/state.ts";
import { sha256 } from "../../project/sha256.ts";

const hashChars = 16;

/**
 * Opens a question. The hash covers everything that is shown and the facts behind it. `replaces`:
 * the question in whose place it is asked.
 */
export function ask(
  question: Question,
  now: string,
  actor: "planner" | "system" = "system",
  replaces?: string,
): PortfolioChangeOf<"block_opened"> {
  const { kind, ...shown } = question;
  const hash = sha256(canonicalJson(shown)).slice(0, hashChars);
  const block_id = createBlockId(now, randomBytes(6));
  const replacement = replaces === undefined ? {} : { replaces };

  return {
    event: "block_opened",
    actor,
    reason_code: "ok",
    block_id,
    ...shown,
    content: `${kind}:${hash}`,
    ...replacement,
  };
}

/**
 * Blocks a task on the question about a cause that may block others too; the question is opened if
 * it isn't open yet.
 */
export function blockTask(
  state: PortfolioView,
  cause: SharedCause,
  task_id: string,
  now: string,
): readonly PortfolioChange[] {
  const open = findOpenQuestionAbout(state, cause);
  if (open !== undefined) return [blockOn(open, task_id)];

  const opened = ask(
    {
      ...cause,
      project_id: null,
      task_id: null,
      impact: "no task that needs it goes on before",
      options: { A: "try again" },
      asked_by: null,
    },
    now,
    "planner",
  );
  return [opened, blockOn(opened, task_id)];
}

const blockOn = (
  { question, block_id }: { readonly question: string; readonly block_id: string },
  task_id: string,
): PortfolioChange => ({
  event: "task_status_changed",
  actor: "planner",
  reason_code: "ok",
  task_id,
  to_status: "blocked_human",
  because: question,
  block_id,
});

/**
 * Tasks that no cause blocks any more become ready; questions about causes that block nothing are
 * closed.
 */
function freeTasks(state: PortfolioView): readonly PortfolioChange[] {
  const { freedTasks, settledBlocks } = findSettledCauses(state);
  const freed = freedTasks.map((task): PortfolioChange => ({
    event: "task_status_changed",
    actor: "system",
    reason_code: "ok",
    to_status: "ready",
    ...task,
  }));
  const closed = settledBlocks.map((block) => close(block, "no task waits for it any more"));

  return [...freed, ...closed];
}

const close = ({ block_id, content }: BlockView, answer: string): PortfolioChange => ({
  event: "block_resolved",
  actor: "system",
  reason_code: "ok",
  block_id,
  content,
  answer,
});

/**
 * Replaces every open question that no longer applies. The new one is opened before the old is
 * closed, so that its task stays blocked.
 */
export function replaceOutdatedQuestions(
  state: PortfolioView,
  now: string,
): readonly PortfolioChange[] {
  const changes = [...freeTasks(state)];

  for (const { block, currentText } of findOutdatedQuestions(state)) {
    if (currentText === null) {
      changes.push(close(block, "a task was added"));
    } else {
      const replacement = { ...copyQuestion(block), ...currentText };
      changes.push(ask(replacement, now, "system", block.block_id));
      changes.push(close(block, "what it is about has changed, so it is asked again"));
    }
  }

  return changes;
}

/** What stays of a question whose text changes. */
function copyQuestion(block: BlockView): Omit<Question, "question" | "about"> {
  const { project_id, task_id, expected_action, impact, options, asked_by } = block;

  return {
    kind: readQuestionKind(block) as QuestionKind,
    project_id,
    task_id,
    expected_action,
    impact,
    options: { ...options },
    asked_by: asked_by === null ? null : { ...asked_by },
  };
}
