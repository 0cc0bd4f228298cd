// ask: makes the journal lines that open, replace and close a question: with an id, and a content hash that its answer must name.
// Invariants H1 and on: portfolio/planner/questions.ts.

import { createHash, randomBytes } from "node:crypto";
import type { PortfolioChange, PortfolioChangeOf } from "../../contracts/portfolio-journal.ts";
import { canonicalJson } from "../../kit/canonical-json.ts";
import { blockIdOf } from "../planner/ids.ts";
import {
  openQuestionAbout,
  type SharedCause,
  questionKind,
  outdatedQuestions,
  type Question,
  type QuestionKind,
  settledCauses,
} from "../planner/questions.ts";
import type { PortfolioView } from "../planner/state.ts";

const hashCharacters = 16;

/** The only way a question gets into the journal. H1 */
export function ask(
  question: Question,
  now: string,
  actor: "planner" | "system" = "system",
  replaces?: string,
): PortfolioChangeOf<"block_opened"> {
  const { kind, ...shown } = question;
  const hash = createHash("sha256").update(canonicalJson(shown)).digest("hex").slice(0, hashCharacters);
  const block_id = blockIdOf(now, randomBytes(6));
  const instead = replaces === undefined ? {} : { replaces };
  return { event: "block_opened", actor, reason_code: "ok", block_id, ...shown, content: `${kind}:${hash}`, ...instead };
}

/** A task that cannot go on waits with all others that the same cause holds up. H5 */
export function holdUp(state: PortfolioView, cause: SharedCause, task_id: string, now: string): readonly PortfolioChange[] {
  const impact = "no task that needs it goes on before";
  const opened =
    openQuestionAbout(state, cause) ??
    ask({ ...cause, project_id: null, task_id: null, impact, options: { A: "try again" }, asked_by: null }, now, "planner");
  const waits = { event: "task_status_changed", actor: "planner", reason_code: "ok", task_id, to_status: "blocked_human" } as const;
  return [...("event" in opened ? [opened] : []), { ...waits, because: opened.question, block_id: opened.block_id }];
}

/** Tasks that their cause holds up no more become ready; causes that hold up nothing are closed. H5 */
function freed(state: PortfolioView): readonly PortfolioChange[] {
  const system = { actor: "system", reason_code: "ok" } as const;
  const { freedTasks, settledBlocks } = settledCauses(state);
  return [
    ...freedTasks.map((task): PortfolioChange => ({ ...system, event: "task_status_changed", to_status: "ready", ...task })),
    ...settledBlocks.map(({ block_id, content }): PortfolioChange => ({
      ...system,
      event: "block_resolved",
      block_id,
      content,
      answer: "no task waits for it any more",
    })),
  ];
}

/** Replaces every open question that no longer applies. The new one is opened before the old is closed, so its task stays blocked. H2 */
export const askedAgain = (state: PortfolioView, now: string): readonly PortfolioChange[] => [
  ...freed(state),
  ...outdatedQuestions(state).flatMap(({ block, now: asked }): PortfolioChange[] => {
    const { project_id, task_id, expected_action, impact, options, asked_by } = block;
    const unchanged = {
      project_id,
      task_id,
      expected_action,
      impact,
      options: { ...options },
      asked_by: asked_by === null ? null : { ...asked_by },
    };
    const answer = asked === null ? "a task was added" : "what it is about has changed, so it is asked again";
    return [
      ...(asked === null
        ? []
        : [ask({ kind: questionKind(block) as QuestionKind, ...unchanged, ...asked }, now, "system", block.block_id)]),
      { event: "block_resolved", actor: "system", reason_code: "ok", block_id: block.block_id, content: block.content, answer },
    ];
  }),
];
