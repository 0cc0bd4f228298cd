// answer: answers an open question of a portfolio's project, task or run.

import type { CommandResponse } from "../../contracts/command-response.ts";
import { portfolioMark, runKey } from "../../fleet/shared-mark.ts";
import { canonicalJson } from "../../kit/canonical-json.ts";
import { answerTold, successorOf, whyNotAnswer } from "../../portfolio/planner/questions.ts";
import { openBlocks, type PortfolioView } from "../../portfolio/planner/state.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, refuse, Refusal, respond } from "../../project/respond.ts";
import { answerMissing } from "../../views/wording.ts";
import { operatorOf } from "./add.ts";
import { copyIn, requirePortfolio } from "../../portfolio/store/folder.ts";
import { withPortfolio } from "../../portfolio/store/open.ts";
import { runQuestions } from "./run-questions.ts";
import { inboxRows } from "./show.ts";
import { viewOf } from "../../portfolio/worker/worker.ts";

/** Answers a question of a portfolio: the one that is named, or the only one. An answer counts for the question it was shown. */
export function answerPortfolio(
  context: CommandContext,
  input: { readonly block?: string | undefined; readonly content?: string | undefined; readonly text: string },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = requirePortfolio(context);
    return withPortfolio(context, paths, async (open) => {
      const blocks = openBlocks(open.state);
      const block =
        input.block === undefined ? (blocks.length === 1 ? blocks[0] : undefined) : blocks.find(({ block_id }) => block_id === input.block);
      const ofRuns = input.block === undefined ? await runQuestions(context, open.state) : [];
      const [only] = ofRuns;
      if (only !== undefined && ofRuns.length === 1 && blocks.length === 0) {
        const { answer } = await import("../answer.ts");
        return answer({ ...context, cwd: only.directory }, { run: only.run, block: only.block, text: input.text });
      }
      const rows = [...inboxRows(open.state, open.now()), ...ofRuns];
      const openQuestions = {
        data: { blocks: rows },
        remediation: rows.map(({ command, question }) => `${command}  (${question.slice(0, 80)})`),
      };
      const old = input.block === undefined ? undefined : open.state.blocks[input.block];
      const instead = block !== undefined || old === undefined ? undefined : successorOf(open.state, old);
      if (old !== undefined && instead !== undefined)
        return refuse("block_changed", {
          message: `${old.block_id} was asked again as ${instead.block_id}, because what it is about has changed: ${instead.question}`,
          ...openQuestions,
        });
      if (block === undefined || ofRuns.length > 0) {
        if (rows.length === 0) return refuse("block_ambiguous", { message: "No question is open, so there is nothing to answer." });
        const message =
          input.block === undefined ? `${rows.length} questions are open, so say which one you mean.` : `${input.block} is not open.`;
        return refuse("block_ambiguous", { message, ...openQuestions });
      }
      if (input.block === undefined && block.replaces !== null)
        return refuse("block_changed", {
          message: `${block.block_id} was asked in place of ${block.replaces}, because what that was about has changed. Read it and answer it by its id: ${block.question}`,
          ...openQuestions,
        });
      if (input.content !== undefined && input.content !== block.content)
        return refuse("block_changed", { message: `${block.block_id} asks something else now: ${block.question}`, ...openQuestions });
      if (["", answerMissing].includes(input.text.trim())) return refuse("portfolio_input_invalid", { message: "The answer is empty." });
      const wrong = whyNotAnswer(block, input.text);
      if (wrong !== null) return refuse("portfolio_input_invalid", { message: wrong, ...openQuestions });
      const task = block.task_id === null ? undefined : open.state.tasks[block.task_id];
      const copy = task === undefined ? null : copyIn(paths, task);
      if (block.asked_by !== null && task !== undefined && task.event_nonce !== null && portfolioMark(paths.own) !== null) {
        // Its worker may be on any machine, and this one may have no copy of the run.
        const { requestOfRun } = await import("../fleet/requests.ts");
        const key = runKey(block.asked_by.run_id, task.event_nonce);
        const response = await requestOfRun(context, { key, ask: "answer", text: input.text, block: block.asked_by.block });
        if (response.result === "FAIL") throw new Refusal(response);
      } else if (block.asked_by !== null && task !== undefined && copy !== null) {
        const runBlock = (await viewOf(paths, task))?.view.blocks[block.asked_by.block];
        if (runBlock !== undefined) {
          if (runBlock.question !== block.question || canonicalJson(runBlock.options) !== canonicalJson(block.options))
            return refuse("block_changed", { message: `The run asks something else now: ${runBlock.question}`, ...openQuestions });
          const { answer } = await import("../answer.ts");
          const response = await answer(
            { ...context, cwd: copy },
            { run: block.asked_by.run_id, block: block.asked_by.block, text: input.text },
          );
          if (response.result === "FAIL") throw new Refusal(response);
        }
      }
      const waiting = task === undefined ? Object.keys(block.tasks) : [task.task_id];
      await open.write({
        ...operatorOf(context),
        event: "block_resolved",
        block_id: block.block_id,
        content: block.content,
        answer: input.text,
      });
      return respond("block_answered", {
        message: `Answered "${block.question}" with ${answerTold(block, input.text)}${nowReady(open.state, waiting)}.`,
        warnings: open.warnings,
        remediation: ["autopilot portfolio run"],
        data: { id: block.block_id, tasks: waiting, question: block.question, answer: input.text },
      });
    });
  });
}

/** What became of those that waited. */
function nowReady({ tasks }: PortfolioView, waiting: readonly string[]): string {
  const [first] = waiting;
  if (first === undefined) return "";
  return waiting.length === 1 ? `; ${first} is ${tasks[first]?.status ?? ""}` : `; ${waiting.length} tasks are ready`;
}
