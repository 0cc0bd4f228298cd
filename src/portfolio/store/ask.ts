// ask: creates the journal entries that open, replace and close questions to a person. Each has an
// id, and a content hash that its answer must name.

import { randomBytes } from "node:crypto";
import type { PortfolioChange, PortfolioChangeOf } from "../../contracts/portfolio-journal.ts";
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
import type { PortfolioView } from "../planner/state.ts";
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
  const impact = "no task that needs it goes on before";
  const opened =
    findOpenQuestionAbout(state, cause) ??
    ask(
      {
        ...cause,
        project_id: null,
        task_id: null,
        impact,
        options: { A: "try again" },
        asked_by: null,
      },
      now,
      "planner",
    );

  const statusChange = {
    event: "task_status_changed",
    actor: "planner",
    reason_code: "ok",
    task_id,
    to_status: "blocked_human",
  } as const;

  return [
    ...("event" in opened ? [opened] : []),
    { ...statusChange, because: opened.question, block_id: opened.block_id },
  ];
}

/**
 * Tasks that no cause blocks any more become ready; questions about causes that block nothing are
 * closed.
 */
function freeTasks(state: PortfolioView): readonly PortfolioChange[] {
  const system = { actor: "system", reason_code: "ok" } as const;
  const { freedTasks, settledBlocks } = findSettledCauses(state);
  return [
    ...freedTasks.map((task): PortfolioChange => ({
      ...system,
      event: "task_status_changed",
      to_status: "ready",
      ...task,
    })),
    ...settledBlocks.map(({ block_id, content }): PortfolioChange => ({
      ...system,
      event: "block_resolved",
      block_id,
      content,
      answer: "no task waits for it any more",
    })),
  ];
}

/**
 * Replaces every open question that no longer applies. The new one is opened before the old is
 * closed, so that its task stays blocked.
 */
export const replaceOutdatedQuestions = (
  state: PortfolioView,
  now: string,
): readonly PortfolioChange[] => [
  ...freeTasks(state),
  ...findOutdatedQuestions(state).flatMap(({ block, currentText }): PortfolioChange[] => {
    const { project_id, task_id, expected_action, impact, options, asked_by } = block;
    const unchanged = {
      project_id,
      task_id,
      expected_action,
      impact,
      options: { ...options },
      asked_by: asked_by === null ? null : { ...asked_by },
    };

    const answer =
      currentText === null
        ? "a task was added"
        : "what it is about has changed, so it is asked again";

    return [
      ...(currentText === null
        ? []
        : [
            ask(
              { kind: readQuestionKind(block) as QuestionKind, ...unchanged, ...currentText },
              now,
              "system",
              block.block_id,
            ),
          ]),
      {
        event: "block_resolved",
        actor: "system",
        reason_code: "ok",
        block_id: block.block_id,
        content: block.content,
        answer,
      },
    ];
  }),
];
