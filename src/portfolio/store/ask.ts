// ask: a question as a line of the journal: with an id, and a content that an answer is held to.
// Invariants H1 and on: portfolio/planner/questions.ts.

import { createHash, randomBytes } from "node:crypto";
import type { PortfolioChange } from "../../contracts/portfolio-journal.ts";
import { canonicalJson } from "../../kit/canonical-json.ts";
import { blockIdOf } from "../planner/ids.ts";
import { kindOf, outdatedQuestions, type Question, type QuestionKind } from "../planner/questions.ts";
import type { PortfolioView } from "../planner/state.ts";

const hashCharacters = 16;

/** The only way a question gets into the journal. H1 */
export function ask(question: Question, now: string, actor: "planner" | "system" = "system", replaces?: string): PortfolioChange {
  const { kind, ...shown } = question;
  const hash = createHash("sha256").update(canonicalJson(shown)).digest("hex").slice(0, hashCharacters);
  const block_id = blockIdOf(now, randomBytes(6));
  const instead = replaces === undefined ? {} : { replaces };
  return { event: "block_opened", actor, reason_code: "ok", block_id, ...shown, content: `${kind}:${hash}`, ...instead };
}

/** What is to be written so that every open question is about what is there now. The new one is opened first: its task never gets away. H2 */
export const askedAgain = (state: PortfolioView, now: string): readonly PortfolioChange[] =>
  outdatedQuestions(state).flatMap(({ block, now: asked }): PortfolioChange[] => {
    const { project_id, task_id, expected_action, impact, options, asked_by } = block;
    const rest = {
      project_id,
      task_id,
      expected_action,
      impact,
      options: { ...options },
      asked_by: asked_by === null ? null : { ...asked_by },
    };
    const answer = asked === null ? "a task was added" : "what it is about has changed, so it is asked again";
    return [
      ...(asked === null ? [] : [ask({ kind: kindOf(block) as QuestionKind, ...rest, ...asked }, now, "system", block.block_id)]),
      { event: "block_resolved", actor: "system", reason_code: "ok", block_id: block.block_id, content: block.content, answer },
    ];
  });
